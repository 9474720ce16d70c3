/* SPDX-License-Identifier: Apache-2.0
 * Names of kernels and graphs by their handles. A handle that was looked up before our eyes is
 * known from there; of others the driver is asked, once. Any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct KernelName {
  uint32_t length;
  char text[1]; /* more of them */
};

void name_set(uintptr_t handle, const char* text, size_t length);
void name_same(uintptr_t handle, uintptr_t as); /* a function of a kernel has its name */
void names_forget_asked(void);                  /* handles may mean something else from now on */
const struct KernelName* name_find(uintptr_t handle); /* NULL: not known */
/* Changes whenever a handle may have another name than before. */
extern uint64_t fathom_names __attribute__((visibility("hidden")));
/* Never NULL. */
const struct KernelName* name_of_kernel(uintptr_t handle);
