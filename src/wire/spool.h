/* SPDX-License-Identifier: Apache-2.0
 * The spool: what a library inside somebody else's process leaves for the recorder, in a file that
 * both map or read. docs/formats/spool.md tells it to the byte. Written without locks by the
 * target, also by the processes it forks, which share the file; the reader believes nothing of it.
 */
#pragma once

#include <stdint.h>

#define SPOOL_MAGIC "FTHSPOOL"

enum {
  kSpoolVersion = 2,
  kSpoolChunkBytes = 32768,
  kSpoolMostChunks = 16384,
  kSpoolHeaderBytes = 65536,
  kSpoolNamesBytes = 16384, /* for the names of calls, within the header */
  kSpoolBuckets = 40, /* of latency: [2^i, 2^(i+1)) ns, the first from 0, the last without end */
  kSpoolMostPath = 4096,
};

enum SpoolFlags {
  kSpoolTsc = 1, /* ticks are the time stamp counter's; else nanoseconds */
  kSpoolTrace = 2,
  kSpoolCount = 4, /* calls are counted, not timed */
};

/* Of a chunk, one byte each. A chunk goes back to kChunkFree when the reader has read it. */
enum SpoolChunkState {
  kChunkNever = 0,
  kChunkUsed = 1,
  kChunkFree = 2,
};

enum SpoolLoss {
  kLostSpace,     /* no chunk was left */
  kLostSignal,    /* too many calls from signal handlers at one moment */
  kLostNames,     /* files without a name: too many, or no chunk was left */
  kLostThreads,   /* calls of a thread for which no chunk was left */
  kLostSandboxed, /* calls of a thread under seccomp */
  kLossCount,
};

/* Where a stream stands: chunk number in the upper half, offset in the chunk in the lower. */
typedef uint64_t SpoolPlace; /* NOLINT(modernize-use-using): this is C, too */

struct SpoolHeader {
  char magic[8];
  uint32_t version, header_bytes;
  uint32_t chunk_bytes, chunk_count;
  uint32_t flags, family_version;
  char family[16];
  uint64_t pid, pid_namespace;
  uint64_t interval_ns, slice_base_ns; /* slice n starts at slice_base_ns + n * interval_ns */
  /* The same moment on both clocks, at load and some time later. */
  uint64_t ticks_at_load, ns_at_load;
  uint64_t ticks_later, ns_later;
  uint64_t ticks_per_ns_32; /* 2^32 ns in ticks, as known at load; buckets of latency follow it */
  uint32_t call_count;      /* names of calls, each ended by a 0 byte, at header + names_offset */
  uint32_t names_offset;
  uint32_t next_chunk; /* from here on never used */
  uint32_t areas;      /* chunk number + 1 of the newest area */
  uint32_t names;      /* chunk number + 1 of the newest chunk of file names */
  uint32_t next_file;
  uint64_t lost[8]; /* by SpoolLoss */
  uint64_t ready;   /* 1 once all above is there */
  char program[512];
  uint8_t chunk_state[kSpoolMostChunks];
};

/* At the start of every chunk. */
struct SpoolChunk {
  uint32_t next;  /* chunk number + 1 of the stream's next; of names: of the one before */
  uint32_t first; /* where its records begin */
  uint32_t used;  /* of names: bytes given out */
  uint32_t reserved;
  uint64_t base_ticks; /* of a stream: small calls tell their start from here */
  uint64_t reserved_too;
};

enum SpoolAreaState { kAreaLive = 1 };

/* Follows the head of an area's first chunk. An area is the stream of one thread; when that has
 * ended another thread may go on with it, and says so with a record. The first chunk stays. */
struct SpoolArea {
  uint32_t next_area; /* chunk number + 1 */
  uint32_t pid, tid;  /* of the owner now; changed together by a 64-bit exchange */
  uint32_t reserved;
  SpoolPlace sealed; /* nothing before it changes any more */
  SpoolPlace end;    /* what was written so far; to be believed once the owner has ended */
};

enum SpoolKind {
  kSpoolEndOfChunk = 0,
  kSpoolThread = 1,
  kSpoolCall = 2,
  kSpoolCell = 3,
  kSpoolHole = 4, /* reserved, and never finished */
  kSpoolShortCall = 5,
  kSpoolSmallCall = 6,
};

enum SpoolRecordFlags {
  kCallHasBytes = 1,
  kCallFailed = 2,
  kCallAbandoned = 4, /* it never returned: longjmp, cancellation */
  kCallCounted = 8,   /* of a cell: its calls were counted, not timed */
};

struct SpoolRecord {
  uint8_t kind;
  uint8_t words; /* of 8 bytes, this head included */
  uint16_t call; /* the number of its name */
  uint16_t flags, reserved;
};

struct SpoolThreadRecord {
  struct SpoolRecord head;
  uint32_t pid, tid;
};

/* One call: trace mode. */
struct SpoolCallRecord {
  struct SpoolRecord head;
  uint32_t file; /* 0: none */
  int32_t error; /* errno of a failed one */
  uint64_t start_ticks, ticks, self_ticks;
  int64_t value; /* bytes, or what it returned */
};

/* The same where it did not fail, had no call within it, and took fewer than 2^32 ticks. */
struct SpoolShortCallRecord {
  struct SpoolRecord head;
  uint64_t start_ticks;
  uint32_t ticks, file;
  int64_t value;
};

/* The same in half of the memory, where all of it fits in. */
struct SpoolSmallCallRecord {
  uint8_t kind, words;
  uint16_t call;        /* its flags are the upper four bits */
  uint32_t start_ticks; /* from base_ticks of the chunk */
  uint64_t rest;        /* file: 16 bits; ticks: 24; value: 24, the upper ones */
};
enum { kSmallCallBits = 12, kSmallFileBits = 16, kSmallTicksBits = 24, kSmallValueBits = 24 };

/* Calls of one kind to one file in one slice: profile mode. Several of a key add up. */
struct SpoolCellRecord {
  struct SpoolRecord head;
  uint32_t file, slice;
  uint64_t count, ticks, self_ticks, bytes, errors;
  uint32_t latency[kSpoolBuckets];
};

/* In a chunk of names. `mark` is written last. */
struct SpoolName {
  uint32_t mark; /* kSpoolNameMark */
  uint32_t file;
  uint32_t length; /* bytes that follow, without a 0; filled up to a multiple of 8 */
  uint32_t reserved;
};
enum { kSpoolNameMark = 0x454d414e };
