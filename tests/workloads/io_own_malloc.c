/* SPDX-License-Identifier: Apache-2.0
 * io_own_malloc: a program with a malloc of its own, which maps every block and begins to do so
 * before any library was set up; 4 threads with 101 blocks each, and stdio on top. What it does it
 * counts in ./tally (io_tally.h). Exits with 7. */
#include <pthread.h>

#include "io_tally.h"

struct Block {
  size_t bytes, unused;
};

void* malloc(size_t size) {
  tally_open();
  const size_t bytes = (size + sizeof(struct Block) + 4095) & ~(size_t)4095;
  struct Block* block = CALL(POINTER, mmap, none, NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return NULL;
  block->bytes = bytes;
  return block + 1;
}

void free(void* memory) {
  if (memory == NULL) return;
  struct Block* block = (struct Block*)memory - 1;
  CALL(STATUS, munmap, none, block, block->bytes);
}

void* calloc(size_t count, size_t size) { return malloc(count * size); }

void* realloc(void* memory, size_t size) {
  void* larger = malloc(size);
  if (memory == NULL || larger == NULL) return larger;
  const size_t before = ((struct Block*)memory - 1)->bytes - sizeof(struct Block);
  memcpy(larger, memory, before < size ? before : size);
  free(memory);
  return larger;
}

static void* thread_main(void* unused) {
  void* blocks[101];
  for (int i = 0; i < 101; ++i) blocks[i] = malloc(77 * (size_t)(i + 1));
  WRITE_SOME(thread, "thread", 7);
  for (int i = 0; i < 101; ++i) free(blocks[i]);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0) return 90;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  FILE* file = CALL(POINTER, fopen, main, "main", "w");
  for (int i = 0; i < 23; ++i) CALL(STATUS, fputs, main, "some text\n", file);
  tally[kCall_fputs][kFile_main].bytes = 23 * 10;
  CALL(STATUS, fclose, main, file);
  return 7;
}
