/* SPDX-License-Identifier: Apache-2.0
 * Times of kernels, copies and sets on the device, from CUPTI where it is and where that is asked
 * for. */
#pragma once

/* After cuInit: before there is a context. */
void gpu_times_start(void);
/* Before a context goes: what is done by now. Waits for nothing. */
void gpu_times_flush(void);
