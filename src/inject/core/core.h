/* SPDX-License-Identifier: Apache-2.0
 * The state of the in-target core, one per process, and what its parts need of each other. Shims
 * include call.h. Nothing here allocates, locks, or calls a function that somebody may have
 * replaced; errno is kept by whoever is called from a wrapper. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/spool.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define keep_order() __atomic_signal_fence(__ATOMIC_SEQ_CST) /* towards our own signal handlers */

enum CoreClock { kClockNone /* calls are only counted */, kClockTsc, kClockNs };
enum CoreState { kCoreNew, kCoreStarting, kCoreOn, kCoreOff };

enum {
  kMostDepth = 32,
  kPending = 32,
  kIndexSlots = 128,
  kIndexFull = 96,
};

/* A call that has begun. */
struct Frame {
  uint64_t inner_ticks; /* of calls within it */
  uintptr_t stack;      /* where its wrapper runs; UINTPTR_MAX: nothing is open here */
  uint32_t call;
  uint32_t on_signal_stack;
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

/* A thread's stream: the first chunk of it, and what only its owner uses. */
struct Area {
  struct SpoolChunk chunk;
  struct SpoolArea shared;
  uint8_t* cursor;        /* where the next record goes */
  uint32_t pending_count; /* more than kPending: the rest is lost */
  uint32_t slice, index_used, reserved;
  uint64_t slice_begin, slice_end; /* ticks */
  struct Frame frames[kMostDepth];
  struct Ended pending[kPending]; /* from signal handlers that came while the stream was in use */
  struct IndexSlot index[kIndexSlots];
};

struct Thread {
  uint64_t epoch; /* that of the process while `area` is this thread's */
  struct Area* area;
  struct Area* parents_area; /* in a vfork child, whose memory is the parent's */
  uintptr_t busy;            /* where on the stack somebody works on the stream; 0: nobody */
  uint32_t on_signal_stack;  /* of the newest frame's wrapper, as far as it matters */
  uint32_t depth;
  uint32_t vforked;
  uint32_t busy_on_signal_stack;
  uint32_t attaching;
};
#define THREAD_DETACHED UINT64_MAX
extern __thread struct Thread fathom_thread __attribute__((visibility("hidden")));

struct Core {
  volatile uint64_t* epoch; /* in a page that the kernel empties in a forked child */
  struct SpoolHeader* header;
  uint8_t* chunks;
  uint64_t slice_ticks, slice_base_ticks;
  uint64_t ns_per_tick_32; /* ns in 2^32 ticks */
  uint64_t cost_ticks;     /* of measuring itself */
  uint32_t clock;          /* CoreClock */
  uint32_t trace;
  uint32_t state;
  uint32_t populates; /* the kernel can say beforehand that there is no memory left */
  uint32_t pid;
  uint64_t generation;
};
extern struct Core fathom_core __attribute__((visibility("hidden")));

/* start.c: once a process. False: nothing is recorded. */
bool core_start(void);
/* Of the environment the process began with; NULL: not set. */
const char* setting(const char* name);

/* spool_file.c: makes and maps the file; what is known beforehand stands in `wanted`. */
bool spool_make(const char* path, const struct SpoolHeader* wanted, uint32_t chunks);

/* The clock where it is not the time stamp counter; 0 without one. */
uint64_t other_ticks(void);

/* area.c */
bool thread_attach(struct Thread* thread);

/* chunk.c: chunk number + 1, or 0. */
uint32_t chunk_take(void);
struct SpoolChunk* chunk_at(uint32_t number);
void count_lost(enum SpoolLoss what);

/* stream.c: room for a record of `words` words, or NULL. The stream must be the caller's alone. */
struct SpoolRecord* stream_reserve(struct Area* area, uint16_t words);
void finish_record(struct Area* area, struct SpoolRecord* record, uint16_t kind, uint32_t call,
                   uint32_t flags);
void stream_seal(struct Area* area);
void stream_open_slice(struct Area* area, uint64_t ticks);
void stream_write(struct Area* area, const struct Ended* ended);
