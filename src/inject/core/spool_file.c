/* SPDX-License-Identifier: Apache-2.0
 * Makes the spool's file and maps it. No descriptor stays open: programs close what they do not
 * know. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/tables.h"

enum {
  kChunksBeforehand = 128, /* where the kernel cannot say later that there is no memory */
  kFewestChunks = 8,
};

static uint64_t file_bytes(uint32_t chunks) {
  return kSpoolHeaderBytes + (uint64_t)chunks * kSpoolChunkBytes;
}

/* A longer file than allowed would bring a signal. */
static uint64_t longest_file(void) {
  struct rlimit limit = {0};
  if (raw_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0) return UINT64_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

/* The hint is far below the program's mappings: without it they would move down by the size of the
 * spool, and some programs allocate by their addresses (GCC a table for every 4 GB). */
long map_apart(long bytes, int flags, long fd) {
  enum { kDistanceShift = 38, kAlignmentShift = 30 };
  static uintptr_t lowest; /* 0: nothing is mapped yet */
  const uintptr_t own = (uintptr_t)&fathom_core >> kAlignmentShift << kAlignmentShift;
  const uintptr_t distance = (uintptr_t)1 << kDistanceShift;
  const uintptr_t size = ((uintptr_t)bytes + 4095) & ~(uintptr_t)4095;
  uintptr_t hint = lowest != 0 ? lowest : own > distance ? own - distance : 0;
  hint = hint > size ? hint - size : 0;
  const long at = raw_call(SYS_mmap, (long)hint, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if ((uintptr_t)at == hint) lowest = hint;
  return at;
}

static uint8_t* map_file(long fd, uint32_t chunks) {
  if (raw_call(SYS_ftruncate, fd, (long)file_bytes(chunks), 0, 0, 0, 0) != 0) return NULL;
  const long at = map_apart((long)file_bytes(chunks), MAP_SHARED | MAP_NORESERVE, fd);
  return at < 0 && at > -4096 ? NULL : (uint8_t*)at;
}

static uint32_t write_names(struct SpoolHeader* header) {
  char* out = (char*)header + sizeof *header;
  const char* end = out + kSpoolNamesBytes;
  uint32_t count = 0;
  for (const struct CallSite* site = __start_fathom_calls; site != __stop_fathom_calls; ++site) {
    const size_t bytes = strlen(site->name) + 1;
    if (out + bytes > end) break;
    memcpy(out, site->name, bytes);
    out += bytes;
    ++count;
  }
  return count;
}

static void fill_header(struct SpoolHeader* header, const struct SpoolHeader* wanted,
                        uint32_t chunks) {
  memcpy(header, wanted, offsetof(struct SpoolHeader, chunk_state));
  memcpy(header->magic, SPOOL_MAGIC, sizeof header->magic);
  header->version = kSpoolVersion;
  header->header_bytes = kSpoolHeaderBytes;
  header->chunk_bytes = kSpoolChunkBytes;
  header->chunk_count = chunks;
  header->names_offset = sizeof *header;
  header->call_count = write_names(header);
  header->next_file = 1;
  __atomic_store_n(&header->ready, 1, __ATOMIC_RELEASE);
}

static bool make_mapping(long fd, const struct SpoolHeader* wanted, uint32_t chunks) {
  const uint64_t longest = longest_file();
  if (chunks > kSpoolMostChunks) chunks = kSpoolMostChunks;
  while (chunks >= kFewestChunks && file_bytes(chunks) > longest) chunks /= 2;
  uint8_t* base = NULL;
  for (; base == NULL && chunks >= kFewestChunks; chunks = base == NULL ? chunks / 4 : chunks)
    base = map_file(fd, chunks);
  if (base == NULL) return false;
  const long head_bytes = (long)(sizeof(struct SpoolHeader) + kSpoolNamesBytes + 4095) & ~4095L;
  fathom_core.populates = raw_populate(base, (unsigned long)head_bytes);
  if (!fathom_core.populates) {
    if (chunks > kChunksBeforehand) chunks = kChunksBeforehand;
    if (raw_call(SYS_fallocate, fd, 0, 0, (long)file_bytes(chunks), 0, 0) != 0) return false;
  }
  const long desk_bytes = (long)chunks * kDeskBytes;
  const long desks = map_apart(desk_bytes + (long)sizeof(struct Tables),
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (desks < 0 && desks > -4096) return false;
  fathom_core.header = (struct SpoolHeader*)base;
  fathom_core.chunks = base + kSpoolHeaderBytes;
  fathom_core.desks = (uint8_t*)desks;
  fathom_core.tables = (struct Tables*)(desks + desk_bytes);
  fill_header(fathom_core.header, wanted, chunks);
  return true;
}

bool spool_make(const char* path, const struct SpoolHeader* wanted, uint32_t chunks) {
  const long fd = raw_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool made = make_mapping(fd, wanted, chunks);
  raw_close(fd);
  if (!made) raw_unlink(path);
  return made;
}
