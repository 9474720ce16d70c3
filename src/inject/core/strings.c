/* SPDX-License-Identifier: Apache-2.0
 * Functions of <string.h> for this library only, also where the compiler calls them. Those that the
 * loader would find may be a sanitizer's: they are not ready when we start, or end the program for
 * what we read. Thread-safe. */
#include <stddef.h>
#include <stdint.h>

/* No loop here becomes a call of the function that it implements. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void* memcpy(void* restrict to, const void* restrict from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* to, int byte, size_t size);
int memcmp(const void* one, const void* other, size_t size);
size_t strlen(const char* text);
size_t strnlen(const char* text, size_t size);
int strcmp(const char* one, const char* other);
int strncmp(const char* one, const char* other, size_t size);
char* strchr(const char* text, int byte);

#ifdef __x86_64__
#include <emmintrin.h>

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  void* at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  return to;
}
void* memset(void* to, int byte, size_t size) {
  void* at = to;
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
  return to;
}
/* Sixteen bytes at a time that do not cross a page. */
size_t strlen(const char* text) {
  const __m128i none = _mm_setzero_si128();
  const unsigned skipped = (unsigned)((uintptr_t)text % 16);
  const __m128i* at = (const __m128i*)(text - skipped);
  unsigned ends = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(at), none));
  ends = ends >> skipped << skipped;
  while (ends == 0) ends = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(++at), none));
  return (size_t)((const char*)at - text) + (unsigned)__builtin_ctz(ends);
}
#else
void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return to;
}
void* memset(void* to, int byte, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = (char)byte;
  return to;
}
size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}
#endif

void* memmove(void* to, const void* from, size_t size) {
  char* end = to;
  if ((uintptr_t)to - (uintptr_t)from >= size) return memcpy(to, from, size);
  while (size-- > 0) end[size] = ((const char*)from)[size];
  return to;
}
int memcmp(const void* one, const void* other, size_t size) {
  const unsigned char *left = one, *right = other;
  for (size_t i = 0; i < size; ++i)
    if (left[i] != right[i]) return left[i] - right[i];
  return 0;
}
size_t strnlen(const char* text, size_t size) {
  size_t length = 0;
  while (length < size && text[length] != 0) ++length;
  return length;
}
int strncmp(const char* one, const char* other, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (one[i] != other[i] || one[i] == 0) return (unsigned char)one[i] - (unsigned char)other[i];
  return 0;
}
int strcmp(const char* one, const char* other) { return strncmp(one, other, SIZE_MAX); }
char* strchr(const char* text, int byte) {
  for (; *text != (char)byte; ++text)
    if (*text == 0) return NULL;
  return (char*)(uintptr_t)text;
}
