/* SPDX-License-Identifier: Apache-2.0
 * What io_processes loads: it writes 5 times when it is loaded and 3 times when it is unloaded. */
#define _GNU_SOURCE
#include "../io_tally.h"

__attribute__((constructor)) static void at_load(void) {
  tally_open();
  WRITE_SOME(library, "library", 5);
}
__attribute__((destructor)) static void at_unload(void) { WRITE_SOME(library, "library", 3); }

int io_at_load_work(int writes) {
  WRITE_SOME(library, "library", writes);
  return writes;
}
