/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/io/pfw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "inject/core/raw.h"
#include "inject/core/stream_walk.h"
#include "inject/core/text.h"

enum { kMostCalls = 1024, kNoSuchProcess = -3, kThreadWritten = 1, kRoomForLine = 256 };

/* What is being written. */
static struct {
  long fd;
  char buffer[32768];
  struct Text text;
  struct {
    uint64_t count, ticks;
  } sums[kMostCalls];
  uint64_t slice;
  uint32_t pid, tid;
  const char* spool;
  uint32_t self;
} out;

static void flush_lines(void) {
  const char* from = out.buffer;
  while (from < out.text.at) {
    const long wrote = raw_write(out.fd, from, (unsigned long)(out.text.at - from));
    if (wrote <= 0) break;
    from += wrote;
  }
  out.text = text_in(out.buffer, sizeof out.buffer);
}

static void put_fraction(struct Text* text, uint64_t number, uint64_t unit) {
  put_number(text, number / unit);
  put(text, ".");
  for (number %= unit; unit > 1; number %= unit) {
    unit /= 10;
    put_number(text, number / unit);
  }
}

static const char* call_name(const struct SpoolHeader* header, uint32_t call) {
  const char* name = (const char*)header + header->names_offset;
  for (; call > 0; --call) name += strlen(name) + 1;
  return name;
}

static void put_line(const struct SpoolHeader* header, uint32_t call) {
  struct Text* text = &out.text;
  if (text->end - text->at < kRoomForLine) flush_lines();
  const unsigned __int128 ns =
      ((unsigned __int128)out.sums[call].ticks << 32) / header->ticks_per_ns_32;
  put(text, "{\"pid\": ");
  put_number(text, out.pid);
  put(text, ", \"tid\": ");
  put_number(text, out.tid);
  put(text, ", \"name\": \"");
  put(text, call_name(header, call));
  put(text, " [libc.so.6]\", \"cat\": \"[libc.so.6]\", \"ph\": \"C\", \"ts\": ");
  put_fraction(text, (header->slice_base_ns + out.slice * header->interval_ns) / 100, 10);
  put(text, ", \"args\": {\"count\": ");
  put_number(text, out.sums[call].count);
  put(text, ", \"time\": ");
  put_fraction(text, (uint64_t)ns, 1000000000);
  put(text, "}}\n");
}

/* The lines of one slice of one thread. */
static void put_sums(const struct SpoolHeader* header) {
  for (uint32_t call = 0; call < header->call_count && call < kMostCalls; ++call) {
    if (out.sums[call].count == 0) continue;
    put_line(header, call);
    out.sums[call].count = out.sums[call].ticks = 0;
  }
}

static void add_cell(const struct SpoolHeader* header, const struct SpoolCellRecord* cell) {
  if (cell->head.call >= kMostCalls) return;
  if (cell->slice != out.slice) put_sums(header);
  out.slice = cell->slice;
  out.sums[cell->head.call].count += cell->count;
  out.sums[cell->head.call].ticks += cell->ticks;
}

/* Whether its maps name the spool. */
static bool has_mapped(const char* maps) {
  static char text[8192];
  const size_t wanted = strlen(out.spool);
  const long fd = raw_open(maps, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return true; /* it is there, and not ours to look at */
  size_t kept = 0;
  bool found = false;
  for (long got; !found && (got = raw_read(fd, text + kept, sizeof text - kept)) > 0;) {
    kept += (size_t)got;
    found = memmem(text, kept, out.spool, wanted) != NULL;
    const size_t overlap = kept < wanted ? kept : wanted;
    memmove(text, text + kept - overlap, overlap);
    kept = overlap;
  }
  raw_close(fd);
  return found;
}

/* Whether that process will write to the spool no more: it has ended, though nobody may have waited
 * for it, or is another program by now. */
static bool has_left(uint32_t pid) {
  if (raw_call(SYS_kill, pid, 0, 0, 0, 0, 0) == kNoSuchProcess) return true;
  char path[48];
  struct Text text = text_in(path, sizeof path);
  put(&text, "/proc/");
  put_number(&text, pid);
  put(&text, "/maps");
  return !has_mapped(path);
}

static bool is_unwritten(const struct SpoolRecord* thread) {
  return __atomic_load_n(&thread->flags, __ATOMIC_SEQ_CST) != kThreadWritten;
}

static bool take(struct SpoolThreadRecord* thread) {
  return is_unwritten(&thread->head) && (thread->pid == out.self || has_left(thread->pid)) &&
         __atomic_exchange_n(&thread->head.flags, kThreadWritten, __ATOMIC_SEQ_CST) !=
             kThreadWritten;
}

static void write_area(const struct SpoolHeader* header, uint32_t number) {
  bool ours = false;
  struct Walk walk = walk_area(header, number);
  for (struct SpoolRecord* record; (record = walk_next(&walk)) != NULL;) {
    if (record->kind == kSpoolThread) {
      put_sums(header);
      struct SpoolThreadRecord* thread = (struct SpoolThreadRecord*)record;
      ours = take(thread);
      out.pid = thread->pid;
      out.tid = thread->tid;
    } else if (record->kind == kSpoolCell && ours) {
      add_cell(header, (const struct SpoolCellRecord*)record);
    }
  }
  put_sums(header);
}

/* Of all areas: whether there is a thread that is not written, of `pid` or, with 0, of anybody. */
static bool has_unwritten(const struct SpoolHeader* header, uint32_t pid) {
  struct Areas areas = all_areas(header);
  for (uint32_t number; next_area(&areas, &number);) {
    struct Walk walk = walk_area(header, number);
    for (struct SpoolRecord* record; (record = walk_next(&walk)) != NULL;)
      if (record->kind == kSpoolThread && is_unwritten(record) &&
          (pid == 0 || ((struct SpoolThreadRecord*)record)->pid == pid))
        return true;
  }
  return false;
}

/* Of processes that end together, one finds the file empty and begins it. */
static bool open_output(const char* output) {
  out.fd = raw_open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  out.text = text_in(out.buffer, sizeof out.buffer);
  if (out.fd < 0) return false;
  raw_call(SYS_flock, out.fd, LOCK_EX, 0, 0, 0, 0);
  if (raw_call(SYS_lseek, out.fd, 0, SEEK_END, 0, 0, 0) == 0) {
    put(&out.text, "[\n");
    flush_lines();
  }
  raw_call(SYS_flock, out.fd, LOCK_UN, 0, 0, 0, 0);
  return true;
}

/* Whether all is written is asked last, so that of processes that end together one finds it so. */
bool pfw_write(const struct SpoolHeader* header, const char* path, const char* output,
               uint32_t self) {
  out.spool = path;
  out.self = self;
  if (!open_output(output)) return false;
  struct Areas areas = all_areas(header);
  for (uint32_t number; next_area(&areas, &number);) write_area(header, number);
  flush_lines();
  raw_close(out.fd);
  return !has_unwritten(header, 0);
}

bool pfw_has(const struct SpoolHeader* header, uint32_t self) {
  return has_unwritten(header, self);
}
