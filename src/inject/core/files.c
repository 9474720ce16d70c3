/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/core/files.h"

#include <errno.h>
#include <string.h>

#include "inject/core/raw.h"
#include "inject/core/sandbox.h"
#include "inject/core/text.h"

enum { kPatience = 10000, kTooLong = -34 /* -ERANGE */ };

static uint32_t directory_version, move_version;

static bool is_on(void) { return __atomic_load_n(&fathom_core.state, __ATOMIC_RELAXED) == kCoreOn; }

static struct Scratch* take_scratch(void) {
  const uint64_t mask = block_signals();
  const uint32_t self = fathom_core.pid;
  for (int tries = 0; tries < kPatience; ++tries) {
    for (int i = 0; i < kScratches; ++i) {
      struct Scratch* scratch = &fathom_core.tables->scratches[i];
      uint32_t before = __atomic_load_n(&scratch->taken, __ATOMIC_RELAXED);
      if (before == self || !__atomic_compare_exchange_n(&scratch->taken, &before, self, false,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
      scratch->mask = mask;
      return scratch;
    }
    raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
  set_signals(mask);
  return NULL;
}
static void give_back(struct Scratch* scratch) {
  const uint64_t mask = scratch->mask;
  __atomic_store_n(&scratch->taken, 0, __ATOMIC_RELEASE);
  set_signals(mask);
}

/* The length, or below 0. */
static long read_fd_link(int fd, char* out, size_t size) {
  char link[48];
  struct Text text = text_in(link, sizeof link);
  put(&text, "/proc/self/fd/");
  put_number(&text, (uint64_t)(unsigned)fd);
  const long length = raw_readlink(link, out, size);
  return length == (long)size && size < kSpoolMostPath ? kTooLong : length;
}

static long read_directory(int directory, char* out, size_t size) {
  if (directory != AT_FDCWD) return read_fd_link(directory, out, size);
  const long length = raw_call(SYS_getcwd, (long)out, (long)size, 0, 0, 0, 0);
  return length > 0 ? length - 1 : length;
}

/* What one of the above says, in the room that it takes: most fits on the stack, and needs no more
 * than that one system call. */
struct Answer {
  long length;
  char* text;
  struct Scratch* scratch;
};
static struct Answer ask(long (*read)(int, char*, size_t), int what, char room[kShortPath]) {
  struct Answer answer = {0, room, NULL};
  if (unlikely(!work_begin(&fathom_thread))) return answer;
  answer.length = read(what, room, kShortPath - 1);
  if (unlikely(answer.length == kTooLong)) answer.scratch = take_scratch();
  if (answer.scratch != NULL) {
    answer.text = answer.scratch->text;
    answer.length = read(what, answer.scratch->text, kSpoolMostPath);
  }
  if (answer.scratch == NULL) work_end();
  return answer;
}
static void answered(const struct Answer* answer) {
  if (answer->scratch == NULL) return;
  give_back(answer->scratch);
  work_end();
}

uint32_t file_named(const char* name, size_t length) {
  if (!is_on()) return 0;
  const struct Name whole = {name, length, "", 0};
  return number_of_name(&whole);
}

uint32_t ask_for_file(int fd) {
  if (fd < 0 || !is_on()) return 0;
  char room[kShortPath];
  const struct Answer answer = ask(read_fd_link, fd, room);
  const uint32_t file = answer.length > 0 ? file_named(answer.text, (size_t)answer.length) : 0;
  answered(&answer);
  set_file(fd, file);
  return file;
}

/* Whether the kernel has read all of the path, as it had to before it could answer so. */
static bool was_read(int error) {
  switch (error) {
    case ENOENT:
    case EACCES:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case EPERM:
    case EROFS:
    case ENOTEMPTY:
    case EXDEV:
    case EINVAL:
      return true;
    default:
      return false;
  }
}

/* How the working directory, or one that is open, is asked for; 0: not to be kept. */
static uint64_t folder_key(int directory) {
  const uint64_t moves = (uint64_t)__atomic_load_n(&move_version, __ATOMIC_RELAXED) << 32;
  if (directory == AT_FDCWD)
    return moves | 1u << 31 | __atomic_load_n(&directory_version, __ATOMIC_RELAXED);
  const uint32_t file = file_of_fd(directory);
  return file != 0 ? moves | file : 0;
}

static struct Folder* folder_at(uint64_t key) {
  return &fathom_core.tables->folders[(key * 0x9e3779b97f4a7c15u) >> 32 & (kFolders - 1)];
}

/* The length of its path, copied to `to`; 0: it is not known, or somebody writes there. */
static long find_folder(uint64_t key, char to[kShortPath]) {
  const struct Folder* folder = folder_at(key);
  const uint32_t turn = __atomic_load_n(&folder->turn, __ATOMIC_ACQUIRE);
  const uint32_t length = folder->length;
  if (key == 0 || folder->key != key || turn % 2 != 0 || length > kShortPath) return 0;
  memcpy(to, folder->text, length);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&folder->turn, __ATOMIC_RELAXED) == turn ? (long)length : 0;
}

/* Whoever jumps away here leaves a place that nobody uses any more. */
static void keep_folder(uint64_t key, const char* text, size_t length) {
  struct Folder* folder = folder_at(key);
  uint32_t turn = __atomic_load_n(&folder->turn, __ATOMIC_RELAXED);
  if (key == 0 || length > kShortPath || turn % 2 != 0 ||
      !__atomic_compare_exchange_n(&folder->turn, &turn, turn + 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  folder->key = key;
  folder->length = (uint32_t)length;
  memcpy(folder->text, text, length);
  __atomic_store_n(&folder->turn, turn + 2, __ATOMIC_RELEASE);
}

static uint32_t name_relative(int directory, const char* path, size_t length) {
  const uint64_t key = folder_key(directory);
  char room[kShortPath];
  struct Answer answer = {find_folder(key, room), room, NULL};
  const bool is_known = answer.length > 0;
  if (!is_known) answer = ask(read_directory, directory, room);
  while (length > 2 && path[0] == '.' && path[1] == '/') path += 2, length -= 2;
  size_t written = answer.length > 0 ? (size_t)answer.length : 0;
  if (written > 0 && answer.text[written - 1] != '/') answer.text[written++] = '/';
  if (written > 0 && !is_known) keep_folder(key, answer.text, written);
  const struct Name name = {answer.text, written, path, length};
  const uint32_t file = number_of_name(&name);
  answered(&answer);
  return file;
}

uint32_t file_of_path(int directory, const char* path, bool failed) {
  if (!is_on() || path == NULL || (failed && !was_read(errno))) return 0;
  const size_t length = strlen(path);
  if (length == 0) return directory == AT_FDCWD ? 0 : file_of_fd(directory);
  if (path[0] == '/') return file_named(path, length);
  const uint64_t where = directory == AT_FDCWD
                             ? 2 + (uint64_t)__atomic_load_n(&directory_version, __ATOMIC_RELAXED)
                             : (uint64_t)1 << 40 | file_of_fd(directory);
  const struct Name given = {path, length, "", 0};
  const uint64_t hash = hash_of_name(&given, where);
  uint32_t file = find_number(hash);
  if (file != 0) return file;
  file = name_relative(directory, path, length);
  if (file != 0) keep_number(hash, file);
  return file;
}

void set_file(int fd, uint32_t file) {
  if ((uint32_t)fd < kMostFds && !fathom_thread.vforked && is_on())
    __atomic_store_n(&fathom_core.tables->fd_files[fd], file, __ATOMIC_RELAXED);
}

uint32_t forget_file(int fd) {
  if (!has_thread()) return 0;
  if (fathom_thread.vforked) return ask_for_file(fd);
  if ((uint32_t)fd >= kMostFds || !is_on()) return 0;
  const uint32_t file = fathom_core.tables->fd_files[fd];
  set_file(fd, 0);
  return file;
}

void forget_files(unsigned first, unsigned last) {
  if (!is_on() || !has_thread()) return;
  for (unsigned fd = first; fd <= last && fd < kMostFds; ++fd)
    if (fathom_core.tables->fd_files[fd] != 0) set_file((int)fd, 0);
}

void directory_changed(void) { __atomic_fetch_add(&directory_version, 1, __ATOMIC_RELAXED); }
void folders_moved(void) { __atomic_fetch_add(&move_version, 1, __ATOMIC_RELAXED); }
