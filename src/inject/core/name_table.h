/* SPDX-License-Identifier: Apache-2.0
 * Numbers for names, which stand in the spool. For any thread and any signal handler: nothing is
 * held, and whoever jumps away leaves a place without a name. */
#pragma once

#include "inject/core/core.h"

/* A text in two parts, so that nobody needs room to put them together. */
struct Name {
  const char* first;
  size_t first_length;
  const char* second;
  size_t second_length;
};

enum { kNameSlots = 65536 };

uint64_t hash_of_name(const struct Name* name, uint64_t seed);
/* 0: it has none yet. */
uint32_t find_number(uint64_t hash);
void keep_number(uint64_t hash, uint32_t file);
/* Gives it a number, whether or not it has one; NULL: no room, which is counted. */
struct SpoolName* add_name(const struct Name* name);
/* The one it has, or a new one; 0: no room. */
uint32_t number_of_name(const struct Name* name);
