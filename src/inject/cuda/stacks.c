/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/stacks.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/core/core.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/cuda/process.h"

enum { kDepth = 24, kOurs = 8, kSlots = 4096, kFull = kSlots / 4 * 3 };

struct Stack {
  uint64_t hash; /* 0: empty */
  uint32_t depth;
  void* frames[kDepth];
};
static struct Stack* stacks; /* NULL: not asked for */
static uint32_t stacks_used;
static struct Gate gate;
static int (*find_frames)(void** to, int most);

extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

void stacks_enable(void) {
  *(void**)&find_frames = find_next_function("backtrace");
  const long at = raw_call(SYS_mmap, 0, kSlots * sizeof *stacks, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (find_frames != NULL && !(at < 0 && at > -4096)) stacks = (struct Stack*)at;
}

static bool is_ours(const void* address) {
  return (const char*)address >= __ehdr_start && (const char*)address < _end;
}

static uint32_t keep(const struct Stack* stack) {
  for (uint32_t at = (uint32_t)(stack->hash % kSlots);; at = (at + 1) % kSlots) {
    if (stacks[at].hash == stack->hash) return at + 1;
    if (stacks[at].hash != 0) continue;
    if (stacks_used >= kFull) return 0;
    stacks[at] = *stack;
    ++stacks_used;
    return at + 1;
  }
}

uint32_t stack_take(void) {
  if (likely(stacks == NULL)) return 0;
  void* found[kDepth + kOurs];
  struct Stack stack = {.hash = 1469598103934665603u};
  const int count = find_frames(found, kDepth + kOurs);
  int first = 0;
  while (first < count && is_ours(found[first])) ++first;
  for (int i = first; i < count && stack.depth < kDepth; ++i) {
    stack.frames[stack.depth++] = found[i];
    stack.hash = (stack.hash ^ (uintptr_t)found[i]) * 1099511628211u;
  }
  if (stack.depth == 0 || stack.hash == 0 || !gate_enter(&gate)) return 0;
  const uint32_t kept = keep(&stack);
  gate_leave(&gate);
  return kept;
}

static void put_hex(struct Text* text, uint64_t number) {
  char digits[16];
  char* at = digits + sizeof digits;
  do {
    *--at = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  put(text, "0x");
  put_bytes(text, at, (size_t)(digits + sizeof digits - at));
}

static void put_frame(struct Text* text, void* address, int (*look_up)(const void*, Dl_info*)) {
  Dl_info info = {0};
  const bool found = look_up != NULL && look_up((char*)address - 1, &info) != 0;
  const char* path = found && info.dli_fname != NULL ? info.dli_fname : "?";
  const char* slash = strrchr(path, '/');
  const char* module = slash != NULL ? slash + 1 : path;
  if (found && info.dli_sname != NULL) {
    put(text, info.dli_sname);
    put(text, " (");
    put(text, module);
    put(text, ")");
    return;
  }
  put(text, module);
  put(text, "+");
  put_hex(text, (uintptr_t)address - (found ? (uintptr_t)info.dli_fbase : 0));
}

void put_stack(struct Text* text, uint32_t stack) {
  if (stack == 0 || stack > kSlots || stacks == NULL) return;
  int (*look_up)(const void*, Dl_info*) = NULL;
  *(void**)&look_up = find_next_function("dladdr");
  const struct Stack* of = &stacks[stack - 1];
  for (uint32_t i = 0; i < of->depth; ++i) {
    if (i > 0) put(text, " < ");
    put_frame(text, of->frames[i], look_up);
  }
}
