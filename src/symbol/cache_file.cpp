// SPDX-License-Identifier: Apache-2.0
#include "symbol/cache_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "base/crc32c.h"
#include "base/fd.h"

namespace fathom {
namespace {

constexpr int64_t kMostFileBytes = int64_t{256} << 20;
constexpr size_t kMarkBytes = 8;

struct Header {
  char mark[kMarkBytes];
  uint32_t version;
  uint32_t crc;  // of what follows
};
static_assert(sizeof(Header) == kCacheHeaderBytes);

Status make_folders(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  const size_t slash = folder.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos)
    return errno_error("make " + folder);
  TRY(make_folders(folder.substr(0, slash)));
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("make " + folder);
  return {};
}

Status write_draft(const std::string& draft, std::string_view bytes) {
  TRY_ASSIGN(const Fd file, open_file(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  return write_all(file.get(), bytes);
}

}  // namespace

std::string begin_cache(const CacheKind& kind) {
  Header header = {};
  std::memcpy(header.mark, kind.mark, kMarkBytes);
  header.version = kind.version;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

void seal_cache(std::string& bytes) {
  const uint32_t crc = crc32c(std::string_view(bytes).substr(kCacheHeaderBytes));
  std::memcpy(bytes.data() + offsetof(Header, crc), &crc, sizeof crc);
}

Result<std::string_view> open_cache(const CacheKind& kind, std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return Error{Code::kCorrupt, "cut"};
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (std::memcmp(header.mark, kind.mark, kMarkBytes) != 0)
    return Error{Code::kCorrupt, "of another kind"};
  if (header.version != kind.version) return Error{Code::kNotFound, "of another version"};
  if (crc32c(bytes) != header.crc) return Error{Code::kCorrupt, "damaged"};
  return bytes;
}

Result<CacheBytes> map_cache_file(const std::string& path) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return errno_error("stat " + path);
  const bool ours =
      S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && (facts.st_mode & 022) == 0;
  if (!ours) return Error{Code::kPermission, path + " is not ours"};
  if (facts.st_size > kMostFileBytes) return Error{Code::kInvalid, path + " is too large"};
  if (facts.st_size == 0) return CacheBytes();
  const auto size = static_cast<size_t>(facts.st_size);
  void* place = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (place == MAP_FAILED) return errno_error("map " + path);
  return CacheBytes({static_cast<const char*>(place), size},
                    {place, [size](void* mapped) { munmap(mapped, size); }});
}

Status store_cache_file(const std::string& folder, const std::string& name,
                        std::string_view bytes) {
  static std::atomic<uint64_t> next = 0;
  const std::string file = folder + "/" + name;
  const std::string draft = fmt::format("{}.{}.{}", file, getpid(), next++);
  TRY(make_folders(folder));
  Status stored = write_draft(draft, bytes);
  if (stored.ok() && std::rename(draft.c_str(), file.c_str()) != 0)
    stored = errno_error("rename " + draft);
  if (!stored.ok()) unlink(draft.c_str());
  return stored;
}

}  // namespace fathom
