/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/io/alone.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/core/raw.h"
#include "inject/core/stream_walk.h"
#include "inject/core/text.h"
#include "inject/io/wrap.h"

enum { kMostCalls = 1024, kNoSuchProcess = -3, kThreadWritten = 1, kRoomForLine = 256 };

static char output[1024], spool[1060];
static bool is_alone;

/* What is being written; one process writes once, at its end. */
static struct {
  long fd;
  char buffer[32768];
  struct Text text;
  struct {
    uint64_t count, ticks;
  } sums[kMostCalls];
  uint64_t slice;
  uint32_t pid, tid;
} out;
static uint32_t writing;

static bool find_paths(void) {
  const char* wanted = setting("FATHOM_IO_FILE");
  if (wanted == NULL || *wanted == 0) wanted = "profile.pfw";
  struct Text text = text_in(output, sizeof output);
  if (*wanted != '/') {
    const long length = raw_call(SYS_getcwd, (long)output, sizeof output, 0, 0, 0, 0);
    if (length <= 1) return false;
    text.at = output + length - 1;
    put(&text, "/");
  }
  put(&text, wanted);
  text = text_in(spool, sizeof spool);
  put(&text, output);
  put(&text, ".");
  put_number(&text, fathom_core.pid);
  put(&text, ".spool");
  return true;
}

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

static bool is_ours_to_write(struct SpoolThreadRecord* thread, uint32_t self) {
  const bool ended =
      thread->pid == self || raw_call(SYS_kill, thread->pid, 0, 0, 0, 0, 0) == kNoSuchProcess;
  return ended && __atomic_exchange_n(&thread->head.flags, kThreadWritten, __ATOMIC_RELAXED) == 0;
}

/* True: everything in it is written now. */
static bool write_area(const struct SpoolHeader* header, uint32_t number, uint32_t self) {
  bool ours = false, all = true;
  struct Walk walk = walk_area(header, number);
  for (struct SpoolRecord* record; (record = walk_next(&walk)) != NULL;) {
    if (record->kind == kSpoolThread) {
      put_sums(header);
      struct SpoolThreadRecord* thread = (struct SpoolThreadRecord*)record;
      ours = is_ours_to_write(thread, self);
      all = all && record->flags == kThreadWritten;
      out.pid = thread->pid;
      out.tid = thread->tid;
    } else if (record->kind == kSpoolCell && ours) {
      add_cell(header, (const struct SpoolCellRecord*)record);
    }
  }
  put_sums(header);
  return all;
}

static bool open_output(void) {
  out.fd = raw_open(output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  out.text = text_in(out.buffer, sizeof out.buffer);
  if (out.fd >= 0) {
    put(&out.text, "[\n");
    flush_lines();
  } else {
    out.fd = raw_open(output, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  }
  return out.fd >= 0;
}

static void write_spool(const struct SpoolHeader* header, uint32_t self, const char* path) {
  if (!open_output()) return;
  bool all = true;
  uint32_t at = __atomic_load_n(&header->areas, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; at != 0 && at <= header->chunk_count && i < header->chunk_count; ++i) {
    all = write_area(header, at - 1, self) && all;
    at = ((const struct SpoolArea*)(spool_chunk(header, at - 1) + 1))->next_area;
  }
  flush_lines();
  raw_close(out.fd);
  if (all) raw_unlink(path);
}

/* Before exec this process was another program, whose spool is still there. */
static void write_what_was_before(void) {
  const long fd = raw_open(spool, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  const long bytes = raw_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
  const long at = bytes < kSpoolHeaderBytes
                      ? -1
                      : raw_call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  raw_close(fd);
  if (at > 0 || at < -4095) {
    const struct SpoolHeader* header = (const struct SpoolHeader*)at;
    const bool whole =
        memcmp(header->magic, SPOOL_MAGIC, sizeof header->magic) == 0 && header->ready == 1 &&
        header->version == kSpoolVersion &&
        kSpoolHeaderBytes + (uint64_t)header->chunk_count * kSpoolChunkBytes <= (uint64_t)bytes;
    if (whole) write_spool(header, fathom_core.pid, spool);
    raw_call(SYS_munmap, at, bytes, 0, 0, 0, 0);
  }
  raw_unlink(spool);
}

bool alone_path(char* path, unsigned long size) {
  if (!find_paths()) return false;
  write_what_was_before();
  struct Text text = text_in(path, size);
  put(&text, spool);
  is_alone = true;
  return true;
}

void alone_started(bool on) { is_alone = is_alone && on; }

static void finish(void) {
  const uint32_t self = raw_getpid();
  if (!is_alone || self != fathom_core.pid) return; /* else nothing here is its own */
  if (__atomic_exchange_n(&writing, self, __ATOMIC_ACQUIRE) == self) return;
  write_spool(fathom_core.header, self, spool);
}

__attribute__((destructor)) static void at_exit(void) { finish(); }

/* These end the process without destructors. */
#define WRAP_END(function)                  \
  CALL_SITE(function);                      \
  FATHOM_EXPORT void function(int status) { \
    if (!is_alone) (void)core_start();      \
    finish();                               \
    REAL(void, function, (int))(status);    \
    __builtin_unreachable();                \
  }
WRAP_END(_exit)
WRAP_END(_Exit)
