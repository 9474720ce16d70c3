/* SPDX-License-Identifier: Apache-2.0
 * What stacks_known loads while it runs: its work calls back into the program. */
void known_library_work(void (*work)(long), long rounds) {
  for (long i = 0; i < rounds; ++i) work(i);
  __asm__ volatile("" ::: "memory"); /* the last call is no jump */
}
