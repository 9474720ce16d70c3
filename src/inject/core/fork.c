/* SPDX-License-Identifier: Apache-2.0
 * A fork in a signal handler that came while its thread worked on a stream: the child will go on
 * with that work when the handler returns, and so will the parent, on the same memory. So the child
 * gets copies of the chunks concerned, which nobody reads. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/sandbox.h"

enum { kMostPrivate = 32 };
static uint32_t privates[kMostPrivate]; /* chunk number + 1 */
static uint32_t private_count;

bool is_private(uint32_t chunk) {
  for (uint32_t i = 0; i < private_count; ++i)
    if (privates[i] == chunk + 1) return true;
  return false;
}

static void make_private(const void* within) {
  const uint32_t chunk =
      (uint32_t)((uint64_t)((const uint8_t*)within - fathom_core.chunks) / kSpoolChunkBytes);
  if (is_private(chunk) || private_count == kMostPrivate) return;
  const long copy = map_apart(kSpoolChunkBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (copy < 0 && copy > -4096) return;
  memcpy((void*)copy, chunk_at(chunk), kSpoolChunkBytes);
  raw_call(SYS_mremap, copy, kSpoolChunkBytes, kSpoolChunkBytes, MREMAP_MAYMOVE | MREMAP_FIXED,
           (long)chunk_at(chunk), 0);
  privates[private_count++] = chunk + 1;
}

/* All chunks that the work may still write to. */
static void leave_to_parent(struct Desk* desk) {
  struct Area* area = area_of(desk);
  make_private(area);
  make_private(desk->cursor - 1);
  for (int i = 0; i < kIndexSlots; ++i)
    if (desk->index[i].cell != NULL) make_private(desk->index[i].cell);
  area->shared.pid = area->shared.tid = 0; /* in our copy: nobody takes it over */
}

static void forked(void) {
  struct Thread* thread = &fathom_thread;
  if (is_sandboxed(thread)) return; /* it writes nowhere */
  for (int i = 0; i < kLanes; ++i)
    if (thread->lanes[i].busy != 0 && thread->lanes[i].desk != NULL)
      leave_to_parent(thread->lanes[i].desk);
  if (thread->tally.busy != 0 && thread->tally.desk != NULL) leave_to_parent(thread->tally.desk);
}

/* An area with the child's number and nothing in it: whoever ends now must not take the spool away
 * while a child has it that has not called anything yet. */
static void note_child(uint32_t pid) {
  if (fathom_core.state != kCoreOn || !work_begin(&fathom_thread)) return;
  const uint64_t mask = block_signals();
  (void)desk_for(pid, pid);
  set_signals(mask);
  work_end();
}

#define WRAP_FORK(function)                                                         \
  CALL_SITE(function);                                                              \
  FATHOM_EXPORT pid_t function(void) {                                              \
    if (unlikely(site_##function.real == NULL)) start_guarded();                    \
    const pid_t pid = ((pid_t(*)(void))site_##function.real)();                     \
    if (pid == 0 && has_thread()) forked();                                         \
    if (pid > 0 && fathom_core.is_alone && has_thread()) note_child((uint32_t)pid); \
    return pid;                                                                     \
  }
WRAP_FORK(fork)
pid_t _Fork(void);
WRAP_FORK(_Fork)
