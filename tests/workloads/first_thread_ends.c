/* SPDX-License-Identifier: Apache-2.0
 * first_thread_ends: the main thread ends at once, another works, loads a library and works on. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { kLoops = 100000000 };

static inline __attribute__((always_inline)) void work(void) {
  unsigned long value = 1;
  for (long i = 0; i < kLoops; ++i) {
    value = value * 3 + 1;
    __asm__ volatile("" : "+r"(value));
  }
}

__attribute__((noinline)) void before_the_library(void) { work(); }
__attribute__((noinline)) void after_the_library(void) { work(); }

static void* other_main(void* library) {
  usleep(50000); /* the first one is gone by then */
  before_the_library();
  if (dlopen(library, RTLD_NOW) == NULL) _exit(3);
  after_the_library();
  return NULL;
}

int main(int count, char** args) {
  static char library[4096];
  if (count < 1 || strlen(args[0]) > sizeof library - 64) return 2;
  strcpy(library, args[0]);
  char* slash = strrchr(library, '/');
  strcpy(slash == NULL ? library : slash + 1, "libstacks_known_library.so");
  pthread_t other;
  if (pthread_create(&other, NULL, other_main, library) != 0) return 2;
  pthread_exit(NULL);
}
