/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/core/files.h"

#include <errno.h>
#include <string.h>

#include "inject/core/raw.h"
#include "inject/core/text.h"

enum {
  kSlots = 65536,
  kSlotsFull = kSlots / 4 * 3,
  kFileBits = 24,
  kScratches = 32,
  kPatience = 10000,
};

uint32_t fathom_fd_files[kMostFds];

/* From the hash of a name to its number: the upper bits of the hash, then the number. A name that
 * is forgotten, because the table was full, gets another number, and the reader the same name. */
static uint64_t slots[kSlots];
static uint32_t slots_used;
static uint32_t directory_version;

/* Room for a path, not on the stack: a thread's or a signal handler's may be small. Whoever has one
 * takes no signals, so that nobody jumps away with it. */
struct Scratch {
  uint32_t taken; /* by a thread of this process; a parent's are free */
  uint64_t mask;
  char text[kSpoolMostPath * 2];
};
static struct Scratch scratches[kScratches];

static struct Scratch* take_scratch(void) {
  const uint64_t mask = block_signals();
  const uint32_t self = fathom_core.pid;
  for (int tries = 0; tries < kPatience; ++tries) {
    for (int i = 0; i < kScratches; ++i) {
      uint32_t before = __atomic_load_n(&scratches[i].taken, __ATOMIC_RELAXED);
      if (before == self || !__atomic_compare_exchange_n(&scratches[i].taken, &before, self, false,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
      scratches[i].mask = mask;
      return &scratches[i];
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
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_of(const char* text, size_t length, uint64_t hash) {
  hash = mix(hash, length);
  for (; length >= 8; text += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = mix(hash, word);
  }
  uint64_t word = 0;
  memcpy(&word, text, length);
  return mix(mix(hash, word), 1);
}

static uint32_t find(uint64_t hash) {
  for (uint32_t at = (uint32_t)(hash % kSlots), looked = 0; looked < kSlots; ++looked) {
    const uint64_t slot = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);
    if (slot == 0) return 0;
    if (slot >> kFileBits == hash >> kFileBits) return (uint32_t)(slot & ((1u << kFileBits) - 1));
    at = (at + 1) % kSlots;
  }
  return 0;
}

static void keep(uint64_t hash, uint32_t file) {
  if (__atomic_fetch_add(&slots_used, 1, __ATOMIC_RELAXED) >= kSlotsFull) {
    for (uint32_t i = 0; i < kSlots; ++i) __atomic_store_n(&slots[i], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slots_used, 1, __ATOMIC_RELAXED);
  }
  const uint64_t value = hash >> kFileBits << kFileBits | file;
  for (uint32_t at = (uint32_t)(hash % kSlots);; at = (at + 1) % kSlots) {
    uint64_t empty = 0;
    if (__atomic_compare_exchange_n(&slots[at], &empty, value, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return;
  }
}

/* As when a stream goes on to its next: no handler may come before the chunk is in its place. */
static bool add_chunk_of_names(uint32_t newest) {
  struct SpoolHeader* header = fathom_core.header;
  const uint64_t mask = block_signals();
  const uint32_t taken = chunk_take();
  if (taken != 0) {
    struct SpoolChunk* chunk = chunk_at(taken - 1);
    memset(chunk, 0, kSpoolChunkBytes);
    chunk->next = newest;
    chunk->first = chunk->used = sizeof *chunk;
    if (!__atomic_compare_exchange_n(&header->names, &newest, taken, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
      __atomic_store_n(&header->chunk_state[taken - 1], kChunkFree, __ATOMIC_RELEASE);
  }
  set_signals(mask);
  return taken != 0;
}

/* Room in the newest chunk of names, or in a new one. */
static struct SpoolName* reserve_name(uint32_t bytes) {
  struct SpoolHeader* header = fathom_core.header;
  for (;;) {
    uint32_t newest = __atomic_load_n(&header->names, __ATOMIC_ACQUIRE);
    if (newest != 0 && newest <= header->chunk_count) {
      struct SpoolChunk* chunk = chunk_at(newest - 1);
      const uint32_t at = __atomic_fetch_add(&chunk->used, bytes, __ATOMIC_RELAXED);
      if (at <= kSpoolChunkBytes - bytes) return (struct SpoolName*)((uint8_t*)chunk + at);
      __atomic_fetch_sub(&chunk->used, bytes, __ATOMIC_RELAXED);
    }
    if (!add_chunk_of_names(newest)) return NULL;
  }
}

static uint32_t new_name(const char* text, size_t length) {
  if (length > kSpoolMostPath) length = kSpoolMostPath;
  struct SpoolHeader* header = fathom_core.header;
  const uint32_t file = __atomic_fetch_add(&header->next_file, 1, __ATOMIC_RELAXED);
  const uint32_t bytes = (uint32_t)((sizeof(struct SpoolName) + length + 7) & ~7ull);
  struct SpoolName* name = file < 1u << kFileBits ? reserve_name(bytes) : NULL;
  if (name == NULL) {
    count_lost(kLostNames);
    return 0;
  }
  name->file = file;
  name->length = (uint32_t)length;
  memcpy(name + 1, text, length);
  __atomic_store_n(&name->mark, kSpoolNameMark, __ATOMIC_RELEASE);
  return file;
}

static bool is_on(void) { return __atomic_load_n(&fathom_core.state, __ATOMIC_RELAXED) == kCoreOn; }

uint32_t file_named(const char* name, size_t length) {
  if (!is_on()) return 0;
  const uint64_t hash = hash_of(name, length, 1);
  uint32_t file = find(hash);
  if (file != 0) return file;
  file = new_name(name, length);
  if (file != 0) keep(hash, file);
  return file;
}

static long read_fd_link(int fd, char* out, size_t size) {
  char link[48];
  struct Text text = text_in(link, sizeof link);
  put(&text, "/proc/self/fd/");
  put_number(&text, (uint64_t)(unsigned)fd);
  return raw_readlink(link, out, size);
}

uint32_t ask_for_file(int fd) {
  if (fd < 0 || !is_on()) return 0;
  struct Scratch* scratch = take_scratch();
  if (scratch == NULL) return 0;
  char* text = scratch->text;
  const long length = read_fd_link(fd, text, kSpoolMostPath);
  const uint32_t file = length > 0 ? file_named(text, (size_t)length) : 0;
  give_back(scratch);
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

/* The path of `directory`, and a slash. */
static size_t write_directory(int directory, char* out) {
  long length;
  if (directory == AT_FDCWD) {
    length = raw_call(SYS_getcwd, (long)out, kSpoolMostPath, 0, 0, 0, 0) - 1;
  } else {
    length = read_fd_link(directory, out, kSpoolMostPath);
  }
  if (length <= 0) return 0;
  if (out[length - 1] != '/') out[length++] = '/';
  return (size_t)length;
}

static uint32_t name_relative(int directory, const char* path, size_t length) {
  struct Scratch* scratch = take_scratch();
  if (scratch == NULL) return new_name(path, length);
  char* text = scratch->text;
  size_t written = write_directory(directory, text);
  while (length > 2 && path[0] == '.' && path[1] == '/') path += 2, length -= 2;
  if (length > kSpoolMostPath - 1) length = kSpoolMostPath - 1;
  memcpy(text + written, path, length);
  const uint32_t file = file_named(text, written + length);
  give_back(scratch);
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
  const uint64_t hash = hash_of(path, length, where);
  uint32_t file = find(hash);
  if (file != 0) return file;
  const int error = errno;
  file = name_relative(directory, path, length);
  errno = error;
  if (file != 0) keep(hash, file);
  return file;
}

void set_file(int fd, uint32_t file) {
  if ((uint32_t)fd < kMostFds && !fathom_thread.vforked)
    __atomic_store_n(&fathom_fd_files[fd], file, __ATOMIC_RELAXED);
}

uint32_t forget_file(int fd) {
  if (fathom_thread.vforked) return ask_for_file(fd);
  const uint32_t file = (uint32_t)fd < kMostFds ? fathom_fd_files[fd] : 0;
  set_file(fd, 0);
  return file;
}

void forget_files(unsigned first, unsigned last) {
  for (unsigned fd = first; fd <= last && fd < kMostFds; ++fd)
    if (fathom_fd_files[fd] != 0) set_file((int)fd, 0);
}

void directory_changed(void) { __atomic_fetch_add(&directory_version, 1, __ATOMIC_RELAXED); }
