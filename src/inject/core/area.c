/* SPDX-License-Identifier: Apache-2.0
 * Gives each thread its area, also in forked and vforked children. */
#include <string.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/core/sandbox.h"

enum { kNoSuchTask = -3 /* -ESRCH */, kLookedAt = 16 };

__thread struct Thread fathom_thread = {.epoch = THREAD_DETACHED, .quick = THREAD_DETACHED};

static uint64_t* owner_of(struct Area* area) { return (uint64_t*)&area->shared.pid; }
static uint64_t owner(uint32_t pid, uint32_t tid) { return (uint64_t)tid << 32 | pid; }

/* Whether it was this owner's, who has ended: now it is nobody's, which tells the reader to wait,
 * until it is sealed and ours. */
static bool take(struct Area* area, uint64_t before) {
  return before != 0 &&
         raw_call(SYS_tgkill, (long)(uint32_t)before, (long)(before >> 32), 0, 0, 0, 0) ==
             kNoSuchTask &&
         __atomic_compare_exchange_n(owner_of(area), &before, 0, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

/* One whose thread has ended. Goes round: where many threads live, the newest areas are theirs. */
static struct Area* take_over(uint32_t pid, uint32_t tid) {
  static uint32_t next; /* chunk number + 1; a wrong one costs nothing but time */
  struct SpoolHeader* header = fathom_core.header;
  uint32_t at = __atomic_load_n(&next, __ATOMIC_RELAXED);
  for (int i = 0; i < kLookedAt; ++i) {
    if (at == 0) at = __atomic_load_n(&header->areas, __ATOMIC_ACQUIRE);
    if (at == 0 || at > header->chunk_count) break;
    struct Area* area = (struct Area*)chunk_at(at - 1);
    at = area->shared.next_area;
    if (!take(area, __atomic_load_n(owner_of(area), __ATOMIC_RELAXED))) continue;
    __atomic_store_n(&area->shared.sealed, area->shared.end, __ATOMIC_RELAXED);
    __atomic_store_n(owner_of(area), owner(pid, tid), __ATOMIC_RELEASE);
    __atomic_store_n(&next, at, __ATOMIC_RELAXED);
    return area;
  }
  __atomic_store_n(&next, at, __ATOMIC_RELAXED);
  return NULL;
}

static struct Area* make_area(uint32_t pid, uint32_t tid) {
  struct SpoolHeader* header = fathom_core.header;
  const uint32_t taken = chunk_take();
  if (taken == 0) return NULL;
  struct Area* area = (struct Area*)chunk_at(taken - 1);
  memset(area, 0, sizeof *area);
  area->chunk.first = sizeof *area;
  area->chunk.base_ticks = ticks_now();
  *owner_of(area) = owner(pid, tid);
  area->shared.end = area->shared.sealed = (uint64_t)(taken - 1) << 32 | sizeof *area;
  uint32_t newest = __atomic_load_n(&header->areas, __ATOMIC_RELAXED);
  do {
    area->shared.next_area = newest;
  } while (!__atomic_compare_exchange_n(&header->areas, &newest, taken, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  return area;
}

void forget_lanes(struct Thread* thread) {
  memset(thread->lanes, 0, sizeof thread->lanes);
  thread->tally = (struct Lane){NULL, 0};
  thread->depth = 0;
  thread->quick = THREAD_DETACHED;
}

/* A number is never used again, and none is 0, which a forked child finds there. */
void nobody_is_quick(void) {
  const uint64_t number = __atomic_add_fetch(&fathom_core.quick_number, 1, __ATOMIC_ACQ_REL);
  if (fathom_core.state == kCoreOn)
    __atomic_store_n(&fathom_core.epoch[1], number, __ATOMIC_RELEASE);
}

static struct Desk* desk_at(struct Area* area) {
  const uint64_t chunk = (uint64_t)((uint8_t*)area - fathom_core.chunks) / kSpoolChunkBytes;
  struct Desk* desk = (struct Desk*)(fathom_core.desks + chunk * kDeskBytes);
  memset(desk, 0, sizeof *desk);
  desk_goes_to(desk,
               (uint8_t*)chunk_at((uint32_t)(area->shared.end >> 32)) + (uint32_t)area->shared.end);
  return desk;
}

struct Desk* desk_for(uint32_t pid, uint32_t tid) {
  struct Area* area = take_over(pid, tid);
  if (area == NULL) area = make_area(pid, tid);
  if (area == NULL) return NULL;
  struct Desk* desk = desk_at(area);
  struct SpoolThreadRecord* record =
      (struct SpoolThreadRecord*)stream_reserve(desk, sizeof *record / 8);
  if (record == NULL) return NULL;
  record->pid = pid;
  record->tid = tid;
  finish_record(desk, &record->head, kSpoolThread, 0, 0);
  stream_seal(desk);
  return desk;
}

/* The memory of the process is new: the kernel emptied the page. */
void note_fork(struct Thread* thread) {
  struct Core* core = &fathom_core;
  uint64_t emptied = 0;
  core->pid = raw_getpid();
  core->sandboxes = (struct Sandboxes){0}; /* those of threads that the child does not have */
  thread->vforked = kNotVforked;
  __atomic_compare_exchange_n(core->epoch, &emptied, ++core->generation, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  nobody_is_quick();
}

/* After vfork parent and child run on this thread's memory, one after the other. The child stays
 * detached, so that each of its calls comes here, and so does the parent's first. */
static bool attach_vforked(struct Thread* thread) {
  const uint32_t pid = raw_getpid();
  if (pid == fathom_core.pid) {
    if (thread->vforked == kVforkedChildCalled) {
      memcpy(thread->lanes, thread->parents_lanes, sizeof thread->lanes);
      thread->depth = thread->parents_depth;
    }
    thread->vforked = kNotVforked;
    if (thread->lanes[0].desk == NULL) return false;
    thread->epoch = *fathom_core.epoch;
    return true;
  }
  if (thread->vforked != kVforkedChildCalled) {
    memcpy(thread->parents_lanes, thread->lanes, sizeof thread->lanes);
    memset(thread->lanes, 0, sizeof thread->lanes);
    thread->parents_depth = thread->depth;
    thread->vforked = kVforkedChildCalled;
  }
  struct Lane* lane = &thread->lanes[0];
  if (lane->desk == NULL || area_of(lane->desk)->shared.pid != pid) {
    memset(thread->lanes, 0, sizeof thread->lanes);
    thread->depth = 0;
    lane->desk = desk_for(pid, pid);
  }
  return lane->desk != NULL;
}

static bool attach(struct Thread* thread) {
  if (fathom_core.state != kCoreOn && !core_start()) return false;
  if (*fathom_core.epoch == 0) note_fork(thread);
  if (thread->vforked && attach_vforked(thread)) return true;
  if (thread->vforked) return false;
  forget_lanes(thread);
  thread->lanes[0].desk = desk_for(fathom_core.pid, raw_gettid());
  if (thread->lanes[0].desk == NULL) {
    count_lost(kLostThreads);
    return false;
  }
  thread->epoch = *fathom_core.epoch;
  return true;
}

/* No handler may come meanwhile: it would find this thread without an area, or jump away. */
bool thread_attach(struct Thread* thread) {
  if (fathom_core.state == kCoreOff || thread->attaching) return false;
  if (unlikely(!work_begin(thread))) {
    count_lost(kLostSandboxed);
    return false;
  }
  know_mark();
  const uint64_t mask = block_signals();
  thread->attaching = 1; /* whatever we call may call a wrapped function */
  keep_order();
  const bool attached = attach(thread);
  keep_order();
  thread->attaching = 0;
  set_signals(mask);
  work_end();
  return attached;
}

/* What vfork.S goes on to. */
__attribute__((visibility("hidden"))) void* fathom_before_vfork(void) {
  struct Thread* thread = &fathom_thread;
  if (fathom_core.state == kCoreNew) start_guarded();
  if (fathom_core.state != kCoreOn || !has_thread() || is_sandboxed(thread))
    return fathom_real_vfork;
  if (*fathom_core.epoch == 0) { /* the child must not take its own number for ours */
    const uint64_t mask = block_signals();
    note_fork(thread);
    forget_lanes(thread);
    set_signals(mask);
  }
  thread->epoch = thread->quick = THREAD_DETACHED;
  if (thread->vforked == kNotVforked) thread->vforked = kVforked;
  return fathom_real_vfork;
}
