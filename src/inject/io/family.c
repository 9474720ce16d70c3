/* SPDX-License-Identifier: Apache-2.0
 * libfathom-io.so as the core knows it. */
#include "inject/core/family.h"

#include "inject/io/alone.h"

const struct Family fathom_family = {
    .name = "io", .version = 1, .suffix = "", .alone = alone_path, .started = alone_started};
