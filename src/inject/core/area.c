/* SPDX-License-Identifier: Apache-2.0
 * Gives each thread its area, also in forked and vforked children. */
#include <string.h>

#include "inject/core/core.h"
#include "inject/core/offsets.h"
#include "inject/core/raw.h"

enum { kVforked = 1 /* as vfork.S says it */, kVforkedChildCalled = 2 };
enum { kNoSuchTask = -3 /* -ESRCH */, kLookedAt = 4 };

_Static_assert(offsetof(struct Thread, epoch) == FATHOM_EPOCH, "offsets.h");
_Static_assert(offsetof(struct Thread, vforked) == FATHOM_VFORKED, "offsets.h");

__thread struct Thread fathom_thread = {.epoch = THREAD_DETACHED};

static uint64_t* owner_of(struct Area* area) { return (uint64_t*)&area->shared.pid; }
static uint64_t owner(uint32_t pid, uint32_t tid) { return (uint64_t)tid << 32 | pid; }

static void reset(struct Area* area) {
  area->pending_count = 0;
  area->slice_begin = area->slice_end = 0;
  for (int i = 0; i < kMostDepth; ++i) area->frames[i].stack = UINTPTR_MAX;
}

/* One whose thread has ended. */
static struct Area* take_over(uint32_t pid, uint32_t tid) {
  struct SpoolHeader* header = fathom_core.header;
  uint32_t at = __atomic_load_n(&header->areas, __ATOMIC_ACQUIRE);
  for (int i = 0; at != 0 && at <= header->chunk_count && i < kLookedAt; ++i) {
    struct Area* area = (struct Area*)chunk_at(at - 1);
    uint64_t before = __atomic_load_n(owner_of(area), __ATOMIC_RELAXED);
    const long alive =
        raw_call(SYS_tgkill, (long)(uint32_t)before, (long)(before >> 32), 0, 0, 0, 0);
    if (alive == kNoSuchTask &&
        __atomic_compare_exchange_n(owner_of(area), &before, owner(pid, tid), false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      stream_seal(area);
      return area;
    }
    at = area->shared.next_area;
  }
  return NULL;
}

static struct Area* make_area(uint32_t pid, uint32_t tid) {
  struct SpoolHeader* header = fathom_core.header;
  const uint32_t taken = chunk_take();
  if (taken == 0) return NULL;
  struct Area* area = (struct Area*)chunk_at(taken - 1);
  memset(area, 0, sizeof *area);
  area->chunk.first = sizeof *area;
  area->cursor = (uint8_t*)area + sizeof *area;
  *owner_of(area) = owner(pid, tid);
  area->shared.end = area->shared.sealed = (uint64_t)(taken - 1) << 32 | sizeof *area;
  uint32_t newest = __atomic_load_n(&header->areas, __ATOMIC_RELAXED);
  do {
    area->shared.next_area = newest;
  } while (!__atomic_compare_exchange_n(&header->areas, &newest, taken, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  return area;
}

static struct Area* area_for(uint32_t pid, uint32_t tid) {
  struct Area* area = take_over(pid, tid);
  if (area == NULL) area = make_area(pid, tid);
  if (area == NULL) return NULL;
  reset(area);
  struct SpoolThreadRecord* record =
      (struct SpoolThreadRecord*)stream_reserve(area, sizeof *record / 8);
  if (record == NULL) return NULL;
  record->pid = pid;
  record->tid = tid;
  finish_record(area, &record->head, kSpoolThread, 0, 0);
  stream_seal(area);
  return area;
}

static void forget(struct Thread* thread) {
  thread->depth = 0;
  thread->busy = 0;
}

/* The memory of the process is new: the kernel emptied the page. */
static void note_fork(void) {
  struct Core* core = &fathom_core;
  uint64_t emptied = 0;
  core->pid = raw_getpid();
  __atomic_compare_exchange_n(core->epoch, &emptied, ++core->generation, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

/* After vfork parent and child run on this thread's memory, one after the other. The child stays
 * detached, so that each of its calls comes here, and so does the parent's first. */
static bool attach_vforked(struct Thread* thread) {
  const uint32_t pid = raw_getpid();
  if (pid == fathom_core.pid) {
    if (thread->vforked == kVforkedChildCalled) thread->area = thread->parents_area;
    thread->vforked = 0;
    forget(thread);
    if (thread->area == NULL) return false;
    thread->epoch = *fathom_core.epoch;
    return true;
  }
  if (thread->area == NULL || thread->area->shared.pid != pid) {
    if (thread->vforked != kVforkedChildCalled) thread->parents_area = thread->area;
    thread->vforked = kVforkedChildCalled;
    thread->area = area_for(pid, pid);
    forget(thread);
  }
  return thread->area != NULL;
}

static bool attach(struct Thread* thread) {
  if (fathom_core.state != kCoreOn && !core_start()) return false;
  if (*fathom_core.epoch == 0) {
    note_fork();
    thread->vforked = 0;
  }
  if (thread->vforked && attach_vforked(thread)) return true;
  if (thread->vforked) return false;
  thread->area = area_for(fathom_core.pid, raw_gettid());
  forget(thread);
  if (thread->area == NULL) {
    count_lost(kLostThreads);
    return false;
  }
  thread->epoch = *fathom_core.epoch;
  return true;
}

bool thread_attach(struct Thread* thread) {
  if (fathom_core.state == kCoreOff) return false;
  if (thread->attaching) { /* a signal handler came while its thread was being attached */
    if (fathom_core.state == kCoreOn) count_lost(kLostSignal);
    return false;
  }
  thread->attaching = 1;
  keep_order();
  const bool attached = attach(thread);
  keep_order();
  thread->attaching = 0;
  return attached;
}
