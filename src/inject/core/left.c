/* SPDX-License-Identifier: Apache-2.0
 * What is rare about calls: they nest, are jumped out of, or end while their thread's stream is in
 * use or after their process has changed. One that never returns counts as failed. */
#include <setjmp.h>
#include <signal.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/sandbox.h"

/* Where signal handlers run that do not run on the thread's own stack. */
struct SignalStack {
  uintptr_t base, size;
};

static struct SignalStack signal_stack(void) {
  stack_t now = {0};
  if (!work_begin(&fathom_thread)) return (struct SignalStack){0, 0};
  const long failed = raw_call(SYS_sigaltstack, 0, (long)&now, 0, 0, 0, 0);
  work_end();
  if (failed || (now.ss_flags & SS_DISABLE)) return (struct SignalStack){0, 0};
  return (struct SignalStack){(uintptr_t)now.ss_sp, now.ss_size};
}

static bool is_on(const struct SignalStack* handlers, uintptr_t stack) {
  return stack - handlers->base < handlers->size;
}

/* Whether what runs at `stack` is over, given that its thread runs at `now`. */
static bool was_left(uintptr_t stack, uintptr_t now, const struct SignalStack* handlers) {
  if (is_on(handlers, stack) == is_on(handlers, now)) return stack <= now;
  return is_on(handlers, stack); /* a handler's while nobody handles; never the other way round */
}

bool is_over(uintptr_t stack, uintptr_t now) {
  const struct SignalStack handlers = signal_stack();
  return was_left(stack, now, &handlers);
}

void add_desk(struct Lane* lane, struct Thread* thread) {
  if (!work_begin(thread)) return;
  const uint64_t mask = block_signals();
  const uint32_t pid = raw_getpid();
  lane->desk = desk_for(pid, thread->vforked ? pid : raw_gettid());
  set_signals(mask);
  work_end();
}

void write_slowly(struct Thread* thread, const struct Ended* ended, uintptr_t stack) {
  struct SignalStack handlers = {0, 0};
  for (int i = 0; i < kLanes; ++i) {
    struct Lane* lane = &thread->lanes[i];
    if (lane->busy != 0) {
      if (handlers.size == 0) handlers = signal_stack();
      if (!was_left(lane->busy, stack, &handlers)) continue;
    }
    lane->busy = stack;
    keep_order();
    if (lane->desk == NULL) add_desk(lane, thread);
    if (lane->desk != NULL)
      stream_write(lane->desk, ended);
    else
      count_lost(kLostThreads);
    keep_order();
    lane->busy = 0;
    return;
  }
  count_lost(kLostSignal);
}

/* A call belongs to the process that began it: one that was forked meanwhile leaves it to its
 * parent. Else a vfork child came in between, or is what ends it. */
void call_end_elsewhere(struct Thread* thread, const struct Call* call, struct Ended* ended,
                        uintptr_t stack) {
  if (call->epoch != THREAD_DETACHED && call->epoch != *fathom_core.epoch) {
    if (thread->depth > call->depth) thread->depth = call->depth;
    return;
  }
  if (!thread_attach(thread)) return;
  ended->ticks = ended->self_ticks = call->end_ticks - call->start_ticks;
  thread->depth = call->depth;
  write_slowly(thread, ended, stack);
}

/* The newest frame, which nothing will come back to. */
static void abandon_frame(struct Thread* thread, uintptr_t stack) {
  const uint32_t at = thread->depth - 1;
  const struct Ended ended = {.start_ticks = ticks_now(),
                              .call = thread->lanes[0].desk->frames[at].call,
                              .flags = kCallFailed | kCallAbandoned};
  thread->depth = at;
  keep_order();
  write_slowly(thread, &ended, stack);
}

/* Those that are over when the thread runs at `now`; `stack` is where we are. */
static void abandon_frames(struct Thread* thread, uintptr_t now, uintptr_t stack,
                           const struct SignalStack* handlers) {
  while (thread->depth > 0) {
    const uint32_t known = thread->depth < kMostDepth ? thread->depth : kMostDepth;
    if (!was_left(thread->lanes[0].desk->frames[known - 1].stack, now, handlers)) return;
    thread->depth = known;
    abandon_frame(thread, stack);
  }
}

/* Also where a jump went that nobody told us of. */
static void settle_frames(struct Thread* thread, uintptr_t stack) {
  const struct SignalStack handlers = signal_stack();
  abandon_frames(thread, stack, stack, &handlers);
}

uint32_t open_frame_within(struct Thread* thread, uintptr_t stack, uint32_t call) {
  const struct Desk* desk = thread->lanes[0].desk;
  keep_order();
  const uint32_t last = thread->depth - 1; /* there is none where a handler has just forked */
  if (last >= kMostDepth || !is_within(&desk->frames[last], stack)) settle_frames(thread, stack);
  const uint32_t depth = thread->depth;
  if (depth < kMostDepth)
    open_frame(thread, depth, stack, call);
  else
    thread->depth = depth + 1;
  return depth;
}

static bool is_attached(const struct Thread* thread) {
  return thread->epoch == *fathom_core.epoch ||
         (thread->vforked == kVforkedChildCalled && !thread->sandboxed);
}

/* Called for each wrapper that an exception or the thread's cancellation passes through, innermost
 * first: by an exception once while its handler is looked for, and again when the wrapper is left.
 */
enum { kCleansUp = 2, kGoesOn = 8 /* _UA_CLEANUP_PHASE, _URC_CONTINUE_UNWIND */ };
__attribute__((visibility("hidden"), used)) int fathom_unwound(int version, int actions,
                                                               uint64_t kind, void* exception,
                                                               void* context) {
  (void)version, (void)kind, (void)exception, (void)context;
  struct Thread* thread = &fathom_thread;
  if (!(actions & kCleansUp) || thread->depth == 0 || !is_attached(thread)) return kGoesOn;
  if (thread->depth <= kMostDepth)
    abandon_frame(thread, (uintptr_t)__builtin_frame_address(0));
  else
    --thread->depth;
  return kGoesOn;
}

#ifdef __x86_64__
enum { kStackPointer = 6 }; /* in a jmp_buf of glibc, which hides it so */
static uintptr_t stack_in(const struct __jmp_buf_tag* to) {
  uintptr_t stack = (uintptr_t)to->__jmpbuf[kStackPointer];
  __asm__("ror $0x11, %0\n\txor %%fs:0x30, %0" : "+r"(stack) : : "cc");
  return stack;
}

/* What is jumped out of is known best before the jump: later, another call may run where it ran. */
static void leave(const struct __jmp_buf_tag* to) {
  struct Thread* thread = &fathom_thread;
  const uintptr_t target = stack_in(to), stack = (uintptr_t)__builtin_frame_address(0);
  const struct SignalStack handlers = signal_stack();
  for (int i = 0; i < kLanes; ++i)
    if (thread->lanes[i].busy != 0 && was_left(thread->lanes[i].busy, target, &handlers))
      thread->lanes[i].busy = 0;
  if (thread->tally.busy != 0 && was_left(thread->tally.busy, target, &handlers))
    thread->tally.busy = 0;
  abandon_frames(thread, target, stack, &handlers);
}

static bool is_in_call(const struct Thread* thread) {
  uintptr_t busy = thread->tally.busy;
  for (int i = 0; i < kLanes; ++i) busy |= thread->lanes[i].busy;
  return (thread->depth != 0 || busy != 0) && is_attached(thread);
}

#define WRAP_JUMP(function)                                                  \
  CALL_SITE(function);                                                       \
  FATHOM_EXPORT void function(struct __jmp_buf_tag to[1], int value) {       \
    if (has_thread() && unlikely(is_in_call(&fathom_thread))) leave(to);     \
    if (unlikely(site_##function.real == NULL)) start_guarded();             \
    ((void (*)(struct __jmp_buf_tag*, int))site_##function.real)(to, value); \
    __builtin_unreachable();                                                 \
  }
extern void __longjmp_chk(struct __jmp_buf_tag to[1], int value) __attribute__((noreturn));
WRAP_JUMP(longjmp)
WRAP_JUMP(_longjmp)
WRAP_JUMP(siglongjmp)
WRAP_JUMP(__longjmp_chk)
#endif
