/* SPDX-License-Identifier: Apache-2.0
 * The state of the in-target core, one per process, and what its parts need of each other. Shims
 * include call.h. Nothing here allocates, locks, or calls a function that somebody may have
 * replaced; errno is kept by whoever is called from a wrapper. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/spool.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define keep_order() __atomic_signal_fence(__ATOMIC_SEQ_CST) /* towards our own signal handlers */

enum CoreClock { kClockNone /* calls are only counted */, kClockTsc, kClockNs };
enum CoreState { kCoreNew, kCoreStarting, kCoreOn, kCoreOff };

enum {
  kMostDepth = 64,
  kLanes = 32,
  kIndexSlots = 128,
  kIndexFull = 96,
};

/* A call that has begun. */
struct Frame {
  uint64_t inner_ticks; /* of calls within it */
  uintptr_t stack;      /* where its wrapper runs */
  uint32_t call;
};

/* A call that has ended. */
struct Ended {
  uint64_t start_ticks, ticks, self_ticks;
  int64_t value;
  uint32_t call, file, flags;
  int32_t error;
};

/* Calls of one kind to one file in this slice. */
struct IndexSlot {
  uint64_t key; /* 0: empty */
  struct SpoolCellRecord* cell;
};

/* A thread's stream as the reader sees it: the start of its first chunk. */
struct Area {
  struct SpoolChunk chunk;
  struct SpoolArea shared;
};

/* What its owner needs to write it. Not in the spool: a forked child must find it as it was, while
 * the parent goes on. All up to the outermost frame is in one line of the cache. */
struct Desk {
  uint8_t* cursor;     /* where the next record goes */
  uint8_t* limit;      /* the end of its chunk */
  uint64_t shift;      /* from an address in this chunk to a SpoolPlace */
  uint64_t base_ticks; /* of this chunk */
  uint64_t mark;       /* whatever a shim keeps for as long as its thread is quick */
  struct Frame frames[kMostDepth];
  /* From here on what finding a cell needs: one line, and one of the index. */
  uint32_t slice __attribute__((aligned(64)));
  uint32_t index_used;
  uint32_t tallies; /* its cells go on growing while others trace: sealed slice by slice */
  uint32_t counted;
  uint64_t slice_begin, slice_end; /* ticks */
  struct IndexSlot index[kIndexSlots];
};
enum { kDeskBytes = 4096 };
_Static_assert(sizeof(struct Desk) <= kDeskBytes, "a page each");
_Static_assert(offsetof(struct Desk, frames[1]) == 64, "a line up to the outermost frame");

/* A stream of this thread. The first is the usual one; a signal handler that comes while somebody
 * works on it takes the next, and so on. */
struct Lane {
  struct Desk* desk;
  uintptr_t busy; /* where on the stack somebody works on it; 0: nobody */
};

enum Vforked { kNotVforked, kVforked, kVforkedChildCalled };

/* What every call needs comes first, here and below: it stands in one line of the cache. */
struct Thread {
  uint64_t epoch;     /* that of the process while the lanes are this thread's */
  uint64_t now_ticks; /* some time ago: when it last read the clock */
  uint64_t quick;     /* short_call.h: the number under which it may be */
  uint32_t depth;     /* frames from here on are nobody's */
  uint32_t vforked;
  struct Lane tally; /* where a tracing thread counts calls that it does not time */
  struct Lane lanes[kLanes];
  uint32_t attaching;
  uint32_t sandboxed;     /* sandbox.h */
  uint32_t parents_depth; /* in a vfork child, whose memory is the parent's */
  struct Lane parents_lanes[kLanes];
};
#define THREAD_DETACHED UINT64_MAX
extern __thread struct Thread fathom_thread __attribute__((visibility("hidden"), aligned(64)));

/* Whether `fathom_thread` can be used. chromium's sandbox calls functions of the C library in a
 * child with memory of its own, filled with zeros, in place of thread-local storage; the address of
 * a thread's storage, which stands at its beginning, is 0 there. Such calls are not recorded. */
static inline __attribute__((always_inline)) bool has_thread(void) {
#ifdef __x86_64__
  uintptr_t self;
  __asm__("mov %%fs:0, %0" : "=r"(self));
  return likely(self != 0);
#else
  return true;
#endif
}

struct Tables;

struct Core {
  volatile uint64_t* epoch; /* in a page that the kernel empties in a forked child; then the number
                               of being quick */
  uint8_t* chunks;
  uint64_t cost_ticks; /* of measuring itself */
  uint32_t clock;      /* CoreClock */
  uint32_t trace;
  uint64_t ns_per_tick_32; /* ns in 2^32 ticks */
  struct Tables* tables;   /* there when calls are recorded */
  struct SpoolHeader* header;
  uint8_t* desks; /* one for each chunk, of which few are ever touched */
  uint64_t slice_ticks, slice_base_ticks;
  uint32_t state;
  uint32_t populates; /* the kernel can say beforehand that there is no memory left */
  uint32_t is_alone;  /* no recorder reads the spool; its last process writes the output */
  uint32_t pid;
  uint64_t generation, quick_number;
  struct Sandboxes {
    uint32_t threads;   /* number of calls that put one thread under seccomp */
    uint32_t processes; /* number of calls that put all threads under seccomp */
    uint32_t working;   /* threads that may be in a system call of ours */
  } sandboxes __attribute__((aligned(64)));
};
extern struct Core fathom_core __attribute__((visibility("hidden"), aligned(64)));

/* start.c: once a process. False: nothing is recorded. */
bool core_start(void);
void start_guarded(void);
void know_mark(void); /* before the first system call of ours */
/* Of the environment the process began with; NULL: not set. */
const char* setting(const char* name);

/* spool_file.c: maps memory to read and write, away from the program's; or a negative errno. */
long map_apart(long bytes, int flags, long fd);
/* spool_file.c: makes and maps the file; what is known beforehand stands in `wanted`. */
bool spool_make(const char* path, const struct SpoolHeader* wanted, uint32_t chunks);

/* area.c */
void forget_lanes(struct Thread* thread);
void nobody_is_quick(void); /* what threads know may not hold any more */
bool thread_attach(struct Thread* thread);
struct Desk* desk_for(uint32_t pid, uint32_t tid); /* NULL: no chunk is left */

void note_fork(struct Thread* thread); /* in a forked child, before anything else */

/* fork.c: what is written there, nobody will read. */
bool is_private(uint32_t chunk);

/* chunk.c: chunk number + 1, or 0. */
uint32_t chunk_take(void);
struct SpoolChunk* chunk_at(uint32_t number);
void count_lost(enum SpoolLoss what);

/* There is a desk for each chunk; those of the first chunks of areas are used. */
static inline struct Area* area_of(const struct Desk* desk) {
  const uint64_t at = (uint64_t)((const uint8_t*)desk - fathom_core.desks);
  return (struct Area*)(fathom_core.chunks + at * (kSpoolChunkBytes / kDeskBytes));
}

/* All that is known of a stream's place is the cursor: with signals held back, the rest is told by
 * it. It never stands at the first byte of a chunk: there it means the end of the one before. */
static inline void desk_goes_to(struct Desk* desk, uint8_t* cursor) {
  const uint64_t chunk = (uint64_t)(cursor - fathom_core.chunks - 1) / kSpoolChunkBytes;
  uint8_t* base = fathom_core.chunks + chunk * kSpoolChunkBytes;
  desk->cursor = cursor;
  desk->limit = base + kSpoolChunkBytes;
  desk->shift = (chunk << 32) - (uint64_t)(uintptr_t)base;
  desk->base_ticks = ((const struct SpoolChunk*)base)->base_ticks;
}

/* stream.c: room for a record of `words` words, or NULL. The stream must be the caller's alone. */
struct SpoolRecord* stream_reserve(struct Desk* desk, uint8_t words);
void finish_record(struct Desk* desk, struct SpoolRecord* record, uint8_t kind, uint32_t call,
                   uint32_t flags);
void stream_seal(struct Desk* desk);
void stream_write(struct Desk* desk, const struct Ended* ended);
/* Of a desk that tallies: where calls are counted now; NULL: no chunk is left. */
struct SpoolCellRecord* tally_cell(struct Desk* desk, uint32_t call, uint32_t file, uint64_t ticks);
