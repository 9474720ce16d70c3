/* SPDX-License-Identifier: Apache-2.0
 * What the BPF half of the I/O probe (calls.bpf.c) and its user half share. Plain C for both. Every
 * followed task has a WireTaskCalls: its calls in progress, cells that sum completed calls, and a
 * batch of traced calls. Traced calls that a filter excludes are summed in the cells, so that
 * totals are exact. A cell leaves through the ring of the CPU when its slot is needed, when its
 * slice is over and the recorder asks, and when the task ends; a batch when it is full, when the
 * recorder asks, and when the task ends. Times are CLOCK_MONOTONIC nanoseconds. */
#pragma once

#include <stdint.h>

#include "wire/stacks.h"

enum {
  kWireSystemCalls = 512,
  kWireHooks = 1024,     /* functions and tracepoints that a probe set names */
  kWireFunctions = 2048, /* numbers of functions, system calls included */
  kWireSlots = 1024,     /* of tasks that are found fast; 1 << kWireSlotBits */
  kWireSlotBits = 10,
  kWireCells = 16,       /* power of two */
  kWireBatch = 32,       /* traced calls that leave together; power of two */
  kWireKnownFiles = 8,   /* power of two */
  kWireDepth = 16,       /* calls within a system call; power of two */
  kWireBuckets = 40,     /* of latency: [2^i, 2^(i+1)) ns, the first from 0, the last without end */
  kWireFullCell = 60000, /* buckets have 16 bits */
  kWireCallCpus = 1024,
  kWireNameBytes = 256,  /* of a part of a path, as the kernel has it */
  kWirePathBytes = 1024, /* of a path that was given to a call; power of two */
  kWireTextBytes = 4096, /* of all parts together; power of two */
  kWireMostParts = 48,
  kWireNameRingBytes = 1 << 22,
  kWireFileSlots = 1 << 16,
};

/* What is seen below system calls; numbers of functions. One that lasts is told when it ends. */
enum WireLayerFunction {
  kExt4Write = kWireSystemCalls,
  kExt4Sync,
  kExt4Truncate,
  kExt4Unlink,
  kExt4Allocate,
  kExt4MapBlocks,
  kExt4ReadFolio,
  kExt4WritePages,
  kJournalHandle,
  kJournalCommit,
  kCacheRead,
  kCacheAdd,
  kCacheRemove,
  kCacheFault,
  kCacheMap,
  kCacheDirty,
  kCacheThrottle,
  kFaultUser,
  kFaultKernel,
  kBlockQueue,
  kBlockRead,
  kBlockWrite,
  kBlockFlush,
  kBlockDiscard,
  kBlockOther,
  kBlockMerge,
  kBlockSequential,
  kBlockRandom,
  kWritebackInode,
  kWritebackMetadata,
  kUringFirst = kWireSystemCalls + 128, /* and the number of the operation */
  kUringLast = kUringFirst + 127,
  kHookFirst, /* and the number of the hook */
  kHookLast = kHookFirst + kWireHooks - 1,
};

/* What a hook means to its function. */
enum WireHookKind { kHookUnused, kHookEnter, kHookLeave, kHookMoment };

/* Where the file of a hook is to be found from one of its arguments. */
enum WireHookFile {
  kHookNoFile,
  kHookOfFile,
  kHookOfInode,
  kHookOfDentry,
  kHookOfPath,
  kHookOfMapping,
  kHookOfFolio,
  kHookOfKiocb,
};

/* The constants of one program on one hook. */
struct WireHook {
  uint32_t function;
  uint8_t kind;
  uint8_t file;
  uint8_t file_argument;
  uint8_t result;    /* where its result stands among the arguments */
  uint8_t of_result; /* of WireHookResult */
  uint8_t user;      /* a function of the program, which system calls are within */
  uint8_t reserved[6];
};
enum WireHookResult { kResultNone, kResultErrno, kResultBytes };

/* Whose calls: tasks with a mark; processes in a map as well; whoever is in a cgroup; everybody but
 * the kernel's own threads. Whoever a followed task starts is, too. */
enum WireCallsOf { kCallsOfMarked, kCallsOfAdopted, kCallsOfCgroup, kCallsOfEverybody };

enum WireRuleFlags {
  kRuleWanted = 1,
  kRuleBytes = 2,      /* returns a number of bytes */
  kRuleMakesFd = 4,    /* returns a descriptor */
  kRuleAtEntry = 8,    /* never returns: counted as it begins */
  kRuleEntryFile = 16, /* its descriptor is gone when it returns */
  kRuleExec = 32,
  kRulePosition = 64, /* moves the position of its file */
};

/* How a system call is to be read. Arguments count from 0; -1: it has none. */
struct WireRule {
  uint16_t function;
  uint8_t flags;
  int8_t fd_argument;
  int8_t path_argument;
  int8_t at_argument; /* the folder that its path begins at */
  int8_t offset_argument;
  int8_t reserved;
};

struct WireFrame {
  uint64_t start_ns;
  uint64_t inner_ns; /* of calls within it */
  uint32_t function;
  uint32_t file;
};

/* Something that begins and ends in different tasks: a request of a block device or of io_uring. */
struct WireRequest {
  uint64_t start_ns, issue_ns;
  uint64_t kernel_start_ns; /* of a block device, what the kernel stores in the request */
  uint32_t pid, tid;        /* 0: the kernel's own */
  uint32_t function;
  uint32_t file;
  uint32_t bytes;
  uint32_t done_bytes; /* completed so far */
};

/* What the iterator does with requests of disks that are still known. */
enum WireClosing { kCloseNone, kCloseUnseen, kCloseInFlight };

/* A file as its inode; a path that was given to a call, as its hash. */
struct WireFileKey {
  uint64_t inode;
  uint32_t device;
  uint32_t generation;
};
enum { kWirePathDevice = 0xffffffff, kWireDiskDevice = 0xfffffffe };

struct WireKnownFile {
  struct WireFileKey key;
  uint32_t file;
  uint32_t reserved;
};

struct WireCell {
  uint32_t function; /* with count 0: free */
  uint32_t file;     /* 0: none */
  uint32_t slice;
  uint32_t count;
  uint32_t errors;
  uint32_t reserved;
  uint64_t time_ns, self_ns, bytes;
  uint16_t latency[kWireBuckets];
};

enum WireCallKind {
  kWireOneCall = 1, /* one call, for profiles: WireOneCall */
  kWireSumOfCalls = 2,
  kWireTracedCall = 3,
  kWireTracedCalls = 4, /* a WireTracedBatch */
};

struct WireCallHead {
  uint16_t kind;
  uint16_t function;
  uint32_t file;
  uint32_t pid, tid;
};

/* One of a batch. */
struct WireTraced {
  uint16_t function;
  uint16_t reserved;
  uint32_t file;
  uint64_t start_ns, duration_ns, self_ns;
  int64_t result; /* of one with bytes, how many; below 0: errno */
  int64_t offset; /* below 0: none */
};

/* Traced calls of one task. Only the first `count` are sent. */
struct WireTracedBatch {
  uint16_t kind;
  uint16_t count;
  uint32_t reserved;
  uint32_t pid, tid;
  struct WireTraced calls[kWireBatch];
};

enum WireTaskEnd {
  kTaskLives,
  kTaskEnded,   /* nobody will come back for its cells */
  kTaskLeaving, /* its slot is being given back */
};

/* Whether a task's program has begun. */
enum WireTaskWait {
  kTaskBegun,
  kTaskMarked, /* not yet; the recorder's mark is in its storage, and it has no place of its own */
  kTaskPlaced, /* not yet; it has its place, as have those it starts */
};

/* What a system call needs comes first, in one line of the cache. */
struct WireTaskCalls {
  uint64_t stack;   /* of a slot, who has it: minus the address of its user registers; 0: nobody */
  uint32_t call;    /* the system call under way, and 1; 0: none */
  uint32_t ended;   /* of WireTaskEnd */
  uint32_t crowded; /* of a slot: tasks that would be here, and are in their storage instead */
  uint32_t waiting; /* of WireTaskWait */
  uint64_t start_ns, inner_ns;
  uint64_t task; /* its address */
  uint32_t entry_file;
  uint32_t depth;
  uint32_t pid, tid;

  uint32_t busy; /* somebody is at the cells */
  uint32_t slice;
  uint32_t user_depth; /* frames that are the program's own, below those of the kernel */
  uint32_t looking;    /* we read its memory: a fault now is ours */
  uint32_t ours;       /* our library made the system call that it is in */
  uint32_t bucket;     /* of latency, of the call that is being added */
  uint64_t slice_start_ns, slice_end_ns;
  struct WireFrame frames[kWireDepth];
  struct WireKnownFile files[kWireKnownFiles];
  struct WireCell cells[kWireCells];
  struct WireTracedBatch batch;
};

enum WireOneFlags {
  kOneFailed = 1,
  kOneUntimed = 2, /* its end was not seen: time and error are unknown */
};
struct WireOneCall {
  struct WireCallHead head;
  uint32_t slice;
  uint32_t flags; /* of WireOneFlags */
  uint64_t time_ns, self_ns, bytes;
};

struct WireSumOfCalls {
  struct WireCallHead head;
  uint32_t slice;
  uint32_t count;
  uint32_t errors;
  uint32_t reserved;
  uint64_t time_ns, self_ns, bytes;
  uint16_t latency[kWireBuckets];
};

struct WireTracedCall {
  struct WireCallHead head;
  uint64_t start_ns, duration_ns, self_ns;
  int64_t result; /* of one with bytes, how many; below 0: errno */
  int64_t offset; /* below 0: none */
};

/* A traced call with the stack it was made by, as it returns; the stack's bytes follow. */
struct WireStackedCall {
  struct WireTracedCall call;
  struct WireSample sample;
};
enum { kWireMostCallStack = 64 << 10 };

enum WireNameKind {
  kNamePath = 0, /* parts, from the last to the first, and then the tail that was given */
  kNamePipe = 1,
  kNameSocket = 2,
  kNameAnonymous = 3, /* the only part is what it is */
  kNameCut = 0x100,   /* more parts than were kept */
};

/* Followed by text: `parts` parts with a 0 byte each, then `tail_bytes`. */
struct WireName {
  uint32_t file;
  uint32_t kind;
  struct WireFileKey key;
  uint32_t parts;
  uint32_t part_bytes;
  uint32_t tail_bytes;
  uint32_t reserved;
};

struct WireNameScratch {
  struct WireName head;
  char text[kWireTextBytes + kWirePathBytes + kWireNameBytes];
  char path[kWirePathBytes + 8];
};

/* The BPF half's own counts, mapped into the recorder. */
struct WireCallCounts {
  uint64_t dropped;       /* calls, the ring was full */
  uint64_t dropped_names; /* files that stay without a name */
  uint64_t not_followed;  /* tasks, no memory for their mark */
  uint64_t foreign;       /* calls of 32-bit programs */
  uint64_t too_deep;      /* calls within calls within calls */
  uint64_t next_file;
  uint64_t unseen_ends; /* requests of disks that completed without a program of ours running */
  uint64_t in_flight;   /* requests of disks that had not completed at the end */
  uint64_t no_room;     /* requests that were not followed */
};
