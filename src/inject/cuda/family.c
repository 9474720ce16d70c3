/* SPDX-License-Identifier: Apache-2.0
 * libfathom-cuda.so as the core knows it. */
#include "inject/core/family.h"

#include "inject/cuda/alone.h"

const struct Family fathom_family = {.name = "cuda",
                                     .version = 1,
                                     .suffix = "_CUDA",
                                     .alone = alone_begin,
                                     .started = alone_started,
                                     .sandboxed = alone_sandboxed};
