/* SPDX-License-Identifier: Apache-2.0
 * uring_known FILE: by io_uring, one request after the other: 23 writes of 4,099 bytes, 3 fsyncs,
 * 11 reads of 1,021 bytes, 5 reads of no descriptor. Exits with 7; with 77 where there is no
 * io_uring. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kEntries = 8 };

static int ring;
static struct io_uring_params params;
static uint8_t *submissions, *completions;
static struct io_uring_sqe* entries;

static uint32_t* at(uint8_t* base, uint32_t offset) { return (uint32_t*)(void*)(base + offset); }

static int set_up(void) {
  ring = (int)syscall(SYS_io_uring_setup, kEntries, &params);
  if (ring < 0) return 77;
  const size_t bytes = 1 << 16;
  submissions = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  completions = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  entries = mmap(NULL, kEntries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                 IORING_OFF_SQES);
  return submissions == MAP_FAILED || completions == MAP_FAILED || entries == MAP_FAILED ? 1 : 0;
}

/* One request, and what came of it. */
static int32_t ask(uint8_t operation, int fd, const void* block, uint32_t bytes, uint64_t offset) {
  uint32_t* tail = at(submissions, params.sq_off.tail);
  const uint32_t place = *tail & *at(submissions, params.sq_off.ring_mask);
  struct io_uring_sqe* entry = &entries[place];
  memset(entry, 0, sizeof *entry);
  entry->opcode = operation;
  entry->fd = fd;
  entry->addr = (uint64_t)(uintptr_t)block;
  entry->len = bytes;
  entry->off = offset;
  at(submissions, params.sq_off.array)[place] = place;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) _exit(2);
  uint32_t* head = at(completions, params.cq_off.head);
  const struct io_uring_cqe* answers =
      (const struct io_uring_cqe*)(void*)(completions + params.cq_off.cqes);
  const int32_t result = answers[*head & *at(completions, params.cq_off.ring_mask)].res;
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
  return result;
}

int main(int argc, char** argv) {
  static char block[4099];
  if (argc != 2) return 2;
  const int failed = set_up();
  if (failed != 0) return failed;
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  for (int i = 0; i < 23; ++i)
    if (ask(IORING_OP_WRITE, fd, block, 4099, (uint64_t)i * 4099) != 4099) return 3;
  for (int i = 0; i < 3; ++i)
    if (ask(IORING_OP_FSYNC, fd, NULL, 0, 0) != 0) return 4;
  for (int i = 0; i < 11; ++i)
    if (ask(IORING_OP_READ, fd, block, 1021, (uint64_t)i * 97) != 1021) return 5;
  for (int i = 0; i < 5; ++i)
    if (ask(IORING_OP_READ, -1, block, 1021, 0) >= 0) return 6;
  return 7;
}
