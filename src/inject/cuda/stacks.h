/* SPDX-License-Identifier: Apache-2.0
 * Where memory was allocated, on request: stacks of return addresses, each kept once. Any thread,
 * but no signal handler. */
#pragma once

#include <stdint.h>

#include "inject/core/text.h"

void stacks_enable(void);
uint32_t stack_take(void); /* of the caller; 0: not asked for, or no room */
/* Innermost first: SYMBOL (MODULE), else MODULE+0xOFFSET, with " < " between. */
void put_stack(struct Text* text, uint32_t stack);
