/* SPDX-License-Identifier: Apache-2.0
 * Several processes may write into one folder: the first has metrics.log and timeline.log, the
 * others have their number in the names. Who is first says so in a file with its number, which
 * means nothing once that process has ended. No descriptor stays open: programs close what they do
 * not know, and open others in its place. */
#include <fcntl.h>
#include <string.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/text.h"
#include "inject/cuda/alone.h"

static char folder[1024];
static struct LogFiles files;
static bool found, is_first;

bool log_folder_find(void) {
  const char* wanted = setting("PFLOG");
  struct Text text = text_in(folder, sizeof folder);
  if (wanted == NULL || *wanted == 0) wanted = ".";
  if (*wanted != '/') {
    const long length = raw_call(SYS_getcwd, (long)folder, sizeof folder, 0, 0, 0, 0);
    if (length <= 1) return false;
    text.at = folder + length - 1;
    if (strcmp(wanted, ".") == 0) return true;
    put(&text, "/");
  }
  put(&text, wanted);
  return true;
}

static void path_in(char* to, size_t size, const char* name, uint32_t pid, const char* suffix) {
  struct Text text = text_in(to, size);
  put(&text, folder);
  put(&text, "/");
  put(&text, name);
  if (pid != 0) {
    put(&text, ".");
    put_number(&text, pid);
  }
  put(&text, suffix);
}

static bool is_running(const char* claim, uint32_t self) {
  char digits[24] = "";
  const long fd = raw_open(claim, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  raw_read(fd, digits, sizeof digits - 1);
  raw_close(fd);
  const uint64_t owner = number_in(digits);
  return owner != self && (owner == 0 || raw_call(SYS_kill, (long)owner, 0, 0, 0, 0, 0) == 0);
}

static bool claim_folder(uint32_t self) {
  for (int tries = 0; tries < 2; ++tries) {
    const long fd = raw_open(files.claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) {
      char digits[24];
      struct Text text = text_in(digits, sizeof digits);
      put_number(&text, self);
      raw_write(fd, digits, (unsigned long)(text.at - digits));
      raw_close(fd);
      return true;
    }
    if (is_running(files.claim, self)) return false;
    raw_unlink(files.claim);
  }
  return false;
}

const struct LogFiles* log_files(void) {
  if (found) return &files;
  const uint32_t self = raw_getpid();
  raw_call(SYS_mkdirat, AT_FDCWD, (long)folder, 0777, 0, 0, 0);
  path_in(files.claim, sizeof files.claim, ".fathom-cuda", 0, "");
  is_first = claim_folder(self);
  path_in(files.metrics, sizeof files.metrics, "metrics", is_first ? 0 : self, ".log");
  path_in(files.timeline, sizeof files.timeline, "timeline", is_first ? 0 : self, ".log");
  found = true;
  return &files;
}

void log_files_forget(void) { found = is_first = false; }

void log_files_release(void) {
  if (found && is_first) raw_unlink(files.claim);
  is_first = false;
}

void log_write(const char* path, const char* bytes, unsigned long size, int flags) {
  const long fd = raw_open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0) return;
  while (size > 0) {
    const long wrote = raw_write(fd, bytes, size);
    if (wrote <= 0) break;
    bytes += wrote;
    size -= (unsigned long)wrote;
  }
  raw_close(fd);
}
