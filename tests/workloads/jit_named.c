/* SPDX-License-Identifier: Apache-2.0
 * jit_named NAMES ROUNDS [late | link]: makes one function of code at run time for every line of
 * the file NAMES, writes their names to /tmp/perf-PID.map as a JIT does, and calls each ROUNDS
 * times for the same work. With "late" all of them run once more before the map is there. With
 * "link" the map is a symbolic link to NAMES, which it need not be able to read, and one function
 * runs at kLinkedAt. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uintptr_t kLinkedAt = 0x200000000000;
enum { kSpacing = 4096, kMostFunctions = 64, kLoops = 1000000 };

/* push rbp; mov rbp, rsp; mov ecx, LOOPS; 1: imul rax, rax, 3; dec ecx; jnz 1b; pop rbp; ret */
static const uint8_t kHead[] = {0x55, 0x48, 0x89, 0xe5, 0xb9};
static const uint8_t kTail[] = {0x48, 0x6b, 0xc0, 0x03, 0xff, 0xc9, 0x75, 0xf8, 0x5d, 0xc3};

static void make_function(uint8_t* at) {
  const uint32_t loops = kLoops;
  memcpy(at, kHead, sizeof kHead);
  memcpy(at + sizeof kHead, &loops, sizeof loops);
  memcpy(at + sizeof kHead + sizeof loops, kTail, sizeof kTail);
}

static void call_all(uint8_t* code, int count, long rounds) {
  for (int i = 0; i < count; ++i) {
    void (*function)(void);
    uint8_t* at = code + (long)i * kSpacing;
    memcpy(&function, &at, sizeof function);
    for (long round = 0; round < rounds; ++round) function();
  }
}

static int write_map(const char* path, FILE* names, const uint8_t* code) {
  FILE* map = fopen(path, "w");
  if (map == NULL) return -1;
  char* line = NULL;
  size_t room = 0;
  int count = 0;
  for (ssize_t size; count < kMostFunctions && (size = getline(&line, &room, names)) > 0; ++count) {
    fprintf(map, "%lx %x ", (unsigned long)(code + (long)count * kSpacing), kSpacing);
    fwrite(line, 1, (size_t)size, map);
  }
  free(line);
  return fclose(map) == 0 ? count : -1;
}

int main(int count, char** args) {
  if (count < 3) return 2;
  const long rounds = atol(args[2]);
  const char* mode = count > 3 ? args[3] : "";
  const int link = strcmp(mode, "link") == 0;
  uint8_t* code = mmap(link ? (void*)kLinkedAt : NULL, (size_t)kMostFunctions * kSpacing,
                       PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 3;
  for (int i = 0; i < kMostFunctions; ++i) make_function(code + (long)i * kSpacing);
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  if (link) {
    if ((uintptr_t)code != kLinkedAt || symlink(args[1], path) != 0) return 5;
    call_all(code, 1, rounds);
    return 0;
  }
  FILE* names = fopen(args[1], "r");
  if (names == NULL) return 3;
  if (strcmp(mode, "late") == 0) call_all(code, 1, rounds);
  const int functions = write_map(path, names, code);
  if (functions < 0) return 4;
  call_all(code, functions, rounds); /* JITs leave their maps, so do we */
  return 0;
}
