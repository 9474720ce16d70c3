/* SPDX-License-Identifier: Apache-2.0
 * The address sanitizer of GCC ends a program that loads a library before the sanitizer's own. It
 * asks this function for options; a program that defines it, too, has to set ASAN_OPTIONS itself.
 */
#include "inject/core/call.h"

FATHOM_EXPORT const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "verify_asan_link_order=0"; }
