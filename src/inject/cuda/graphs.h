/* SPDX-License-Identifier: Apache-2.0
 * What stands in a graph that was made ready, so that its launches say how much they start. */
#pragma once

#include "inject/cuda/driver.h"

void graph_instantiated(Word executable, Word graph);
void about_graph(struct About* about, Word executable);
