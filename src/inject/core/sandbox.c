/* SPDX-License-Identifier: Apache-2.0
 * Recognizes seccomp where a program starts (/proc/thread-self/status) and where it installs a
 * filter (prctl, and seccomp by syscall). */
#include "inject/core/sandbox.h"

#include "inject/core/call.h"
#include "inject/core/family.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/core/text.h"

enum { kGetTsc = 25, kSetTsc = 26, kTscFaults = 2 /* PR_GET_TSC, PR_SET_TSC, PR_TSC_SIGSEGV */ };
enum { kSetSeccomp = 22, kStrict = 1, kFilter = 2 /* PR_SET_SECCOMP, SECCOMP_MODE_... */ };
enum { kOpStrict = 0, kOpFilter = 1 /* SECCOMP_SET_MODE_... */ };
enum { kAllThreads = 1, kWithListener = 8 /* SECCOMP_FILTER_FLAG_TSYNC, _NEW_LISTENER */ };
enum { kMaxWaits = 10000 };
#define EPOCH_SANDBOXED (THREAD_DETACHED - 1)

/* A line of the file as it is read, and what was found in earlier ones. */
struct Lines {
  char line[40];
  uint32_t length, filters, mode;
  bool has_filters;
};

/* What follows the name at the start of the line; NULL: it is another line. */
static const char* after(const char* name, const char* line) {
  for (; *name != 0; ++name, ++line)
    if (*name != *line) return NULL;
  return line;
}

static void end_line(struct Lines* lines) {
  lines->line[lines->length] = 0;
  const char* filters = after("Seccomp_filters:\t", lines->line);
  const char* mode = after("Seccomp:\t", lines->line);
  if (filters != NULL) lines->filters = (uint32_t)number_in(filters);
  if (mode != NULL) lines->mode = (uint32_t)number_in(mode);
  lines->has_filters |= filters != NULL;
  lines->length = 0;
}

/* Before Linux 5.9 the number is not known: then 1 if there is any. */
static uint32_t filters_of_this_thread(void) {
  char piece[512];
  struct Lines lines = {.length = 0};
  const long fd = raw_open("/proc/thread-self/status", 02000000 /* O_CLOEXEC */, 0);
  if (fd < 0) return 0;
  for (long got; (got = raw_read(fd, piece, sizeof piece)) > 0;) {
    for (long i = 0; i < got; ++i) {
      if (piece[i] == '\n')
        end_line(&lines);
      else if (lines.length < sizeof lines.line - 1)
        lines.line[lines.length++] = piece[i];
    }
  }
  raw_close(fd);
  return lines.has_filters ? lines.filters : lines.mode != 0;
}

/* Filters that are not the program's: those of the recorder, or the one of a container engine. */
static uint32_t inherited_filters(void) {
  const char* known = setting("FATHOM_FILTERS");
  return known != NULL ? (uint32_t)number_in(known) : 1;
}

bool was_born_sandboxed(void) {
  if (filters_of_this_thread() > inherited_filters()) return true;
#ifdef __x86_64__
  int tsc = 0;
  if (raw_call(SYS_prctl, kGetTsc, (long)&tsc, 0, 0, 0, 0) == 0 && tsc == kTscFaults) return true;
#endif
  return false;
}

struct Undo {
  uint64_t epoch, process_epoch;
  uint32_t sandboxed;
};

/* Other threads see the new epoch at their next call. One that is in a system call of ours has left
 * it soon; one that a signal handler jumped out of never has. */
static void silence_process(void) {
  __atomic_fetch_add(&fathom_core.sandboxes.processes, 1, __ATOMIC_SEQ_CST);
  *fathom_core.epoch = EPOCH_SANDBOXED;
  nobody_is_quick();
  for (int waits = 0; waits < kMaxWaits; ++waits) {
    if (__atomic_load_n(&fathom_core.sandboxes.working, __ATOMIC_SEQ_CST) == 0) return;
    raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
}

/* Before the call that installs the filter: afterwards it may be too late. False: nothing to undo.
 */
static bool enter(struct Thread* thread, bool all_threads, struct Undo* undo) {
  if (!has_thread()) return false;
  if (fathom_core.state == kCoreNew) start_guarded();
  if (is_sandboxed(thread)) return false;
  if (fathom_family.sandboxed != NULL) fathom_family.sandboxed(false);
  if (fathom_core.state != kCoreOn) return false;
  if (*fathom_core.epoch == 0) {
    const uint64_t mask = block_signals();
    note_fork(thread);
    forget_lanes(thread);
    set_signals(mask);
  }
  undo->epoch = thread->epoch;
  undo->process_epoch = *fathom_core.epoch;
  __atomic_fetch_add(&fathom_core.sandboxes.threads, 1, __ATOMIC_SEQ_CST);
  thread->sandboxed = 1;
  thread->epoch = thread->quick = THREAD_DETACHED;
  if (all_threads) silence_process();
  return true;
}

/* After that call. */
static void decide(struct Thread* thread, bool installed, bool entered, bool all_threads,
                   const struct Undo* undo) {
  if (installed && fathom_family.sandboxed != NULL) fathom_family.sandboxed(true);
  if (installed || !entered) return;
  if (all_threads) {
    *fathom_core.epoch = undo->process_epoch;
    __atomic_fetch_sub(&fathom_core.sandboxes.processes, 1, __ATOMIC_SEQ_CST);
  }
  thread->epoch = undo->epoch;
  thread->sandboxed = 0;
  __atomic_fetch_sub(&fathom_core.sandboxes.threads, 1, __ATOMIC_SEQ_CST);
}

CALL_SITE(prctl);
FATHOM_EXPORT int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                        unsigned long d) {
  struct Thread* thread = &fathom_thread;
  struct Undo undo;
  if (unlikely(site_prctl.real == NULL)) start_guarded();
  const bool sandboxes = (option == kSetSeccomp && (a == kStrict || a == kFilter)) ||
                         (option == kSetTsc && a == kTscFaults);
  const bool entered = sandboxes && enter(thread, false, &undo);
  const int result =
      ((int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long))site_prctl.real)(
          option, a, b, c, d);
  if (sandboxes) decide(thread, result == 0, entered, false, &undo);
  return result;
}

/* What syscall.S goes on to for seccomp and prctl. */
typedef long SystemCall(long number, long a, long b, long c, long d, long e);

__attribute__((visibility("hidden"))) long fathom_sandboxing_call(long number, long a, long b,
                                                                  long c, long d, long e) {
  struct Thread* thread = &fathom_thread;
  struct Undo undo;
  if (fathom_real_syscall == NULL) start_guarded();
  if (number == SYS_prctl)
    return prctl((int)a, (unsigned long)b, (unsigned long)c, (unsigned long)d, (unsigned long)e);
  const bool all_threads = a == kOpFilter && (b & kAllThreads);
  const bool sandboxes = a == kOpStrict || a == kOpFilter;
  const bool entered = sandboxes && enter(thread, all_threads, &undo);
  const long result = ((SystemCall*)fathom_real_syscall)(number, a, b, c, d, e);
  const bool installed = b & kWithListener ? result >= 0 : result == 0;
  if (sandboxes) decide(thread, installed, entered, all_threads, &undo);
  return result;
}
