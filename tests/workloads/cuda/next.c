/* SPDX-License-Identifier: Apache-2.0
 * A library to preload that stands before a function as many do: whether RTLD_NEXT, asked from
 * here, is what comes after it, whoever else stands before dlsym. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

pid_t getppid(void) {
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  if (next == NULL || next == getppid) {
    fprintf(stderr, "RTLD_NEXT is %s\n", next == NULL ? "nothing" : "ourselves");
    _exit(4);
  }
  return next();
}

__attribute__((constructor)) static void load(void) {
  if (getppid() > 0 && dlsym(RTLD_DEFAULT, "cuThisIsNone") == NULL)
    fprintf(stderr, "next is right\n");
}
