/* SPDX-License-Identifier: Apache-2.0
 * Spools of processes that run at the same time, or that shared one and went on to other programs,
 * stand in a folder beside the output, which goes away with the last of them. */
#include "inject/io/alone.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/core/raw.h"
#include "inject/core/sandbox.h"
#include "inject/core/text.h"
#include "inject/core/ticks.h"
#include "inject/io/pfw.h"
#include "inject/io/wrap.h"

static char output[1024], folder[1040], spool[1100];
static bool is_alone;
static uint32_t writing; /* one process writes once, at its end */

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
  text = text_in(folder, sizeof folder);
  put(&text, output);
  put(&text, ".spools");
  text = text_in(spool, sizeof spool);
  put(&text, folder);
  put(&text, "/");
  put_number(&text, fathom_core.pid);
  put(&text, "-");
  put_number(&text, monotonic_ns());
  put(&text, ".spool");
  return true;
}

static bool is_whole(const struct SpoolHeader* header, uint64_t bytes) {
  return memcmp(header->magic, SPOOL_MAGIC, sizeof header->magic) == 0 && header->ready == 1 &&
         header->version == kSpoolVersion &&
         kSpoolHeaderBytes + (uint64_t)header->chunk_count * kSpoolChunkBytes <= bytes;
}

/* Made by this process when it was another program. */
static bool was_ours(const char* path) {
  char start[sizeof folder + 16];
  struct Text text = text_in(start, sizeof start);
  put(&text, folder);
  put(&text, "/");
  put_number(&text, fathom_core.pid);
  put(&text, "-");
  return strncmp(path, start, strlen(start)) == 0;
}

/* What this process left in it when it was another program. */
static void write_what_was_before(const char* path) {
  const long fd = raw_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return;
  const long bytes = raw_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
  const long at = bytes < kSpoolHeaderBytes
                      ? -1
                      : raw_call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  raw_close(fd);
  if (at < 0 && at > -4096) return;
  const struct SpoolHeader* header = (const struct SpoolHeader*)at;
  const uint32_t self = fathom_core.pid;
  const bool whole = is_whole(header, (uint64_t)bytes);
  if (whole && pfw_has(header, self) ? pfw_write(header, path, output, self)
                                     : whole && was_ours(path) && !pfw_has(header, 0))
    raw_unlink(path);
  raw_call(SYS_munmap, at, bytes, 0, 0, 0, 0);
}

static void look_for_what_was_before(void) {
  static char entries[8192];
  const long fd = raw_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return;
  for (long got;
       (got = raw_call(SYS_getdents64, fd, (long)entries, sizeof entries, 0, 0, 0)) > 0;) {
    for (const char* at = entries; at < entries + got;) {
      const struct dirent64* entry = (const struct dirent64*)at;
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      char path[sizeof folder + 264];
      struct Text text = text_in(path, sizeof path);
      put(&text, folder);
      put(&text, "/");
      put(&text, entry->d_name);
      write_what_was_before(path);
    }
  }
  raw_close(fd);
}

/* A file without a meaning in the folder, so that nobody who ends now takes it away before the
 * spool is there. */
static char guard[sizeof spool];

static bool make_folder(void) {
  struct Text text = text_in(guard, sizeof guard);
  put_bytes(&text, spool, strlen(spool) - strlen(".spool"));
  for (int tries = 0; tries < 100; ++tries) {
    raw_call(SYS_mkdirat, AT_FDCWD, (long)folder, 0777, 0, 0, 0);
    const long fd = raw_open(guard, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) continue;
    raw_close(fd);
    return true;
  }
  return false;
}

static void remove_folder(void) {
  raw_call(SYS_unlinkat, AT_FDCWD, (long)folder, AT_REMOVEDIR, 0, 0, 0);
}

bool alone_path(char* path, unsigned long size) {
  if (!find_paths() || !make_folder()) return false;
  look_for_what_was_before();
  struct Text text = text_in(path, size);
  put(&text, spool);
  is_alone = true;
  return true;
}

void alone_started(bool on) {
  if (!is_alone) return;
  raw_unlink(guard);
  if (!on) remove_folder();
  is_alone = on;
}

static void finish(void) {
  if (!is_alone || !has_thread() || is_sandboxed(&fathom_thread)) return; /* then the spool stays */
  const uint32_t self = raw_getpid();
  if (self != fathom_core.pid) return; /* else nothing here is its own */
  if (__atomic_exchange_n(&writing, self, __ATOMIC_ACQUIRE) == self) return;
  if (!pfw_write(fathom_core.header, spool, output, self)) return;
  raw_unlink(spool);
  remove_folder();
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
