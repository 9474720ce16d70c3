/* SPDX-License-Identifier: Apache-2.0
 * Text without the C library's formatting, which allocates and locks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct Text {
  char* at;
  char* end; /* one before the last byte, which stays for the 0 */
};
static inline struct Text text_in(char* buffer, size_t size) {
  return (struct Text){buffer, buffer + size - 1};
}
static inline void put_bytes(struct Text* text, const char* bytes, size_t count) {
  const size_t room = (size_t)(text->end - text->at);
  if (count > room) count = room;
  memcpy(text->at, bytes, count);
  text->at += count;
  *text->at = 0;
}
static inline void put(struct Text* text, const char* string) {
  put_bytes(text, string, strlen(string));
}
static inline void put_number(struct Text* text, uint64_t number) {
  char digits[24];
  char* first = digits + sizeof digits;
  do {
    *--first = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  put_bytes(text, first, (size_t)(digits + sizeof digits - first));
}
static inline uint64_t number_in(const char* text) {
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (uint64_t)(*text - '0');
  return number;
}
