// SPDX-License-Identifier: Apache-2.0
// Reading a stranger's archive: the whole of it is checked before the first byte is written.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/file_mode.h"
#include "base/text.h"
#include "record/pack.h"
#include "record/pack_header.h"
#include "record/pack_place.h"
#include "record/recording.h"

namespace fathom {
namespace {

constexpr size_t kMostFiles = 10'000;  // a recording has some twenty

struct Entry {
  std::string name;  // without the folder
  int64_t at = 0;    // where its bytes begin in the archive
  int64_t size_bytes = 0;
};

struct Contents {
  std::string top;  // the one folder, as the archive names it
  std::vector<Entry> entries;
  std::set<std::string> names;
  int64_t whole_bytes = 0;
};

Error cut_off(const Contents& contents, std::string_view where) {
  return Error{Code::kCorrupt,
               fmt::format("the archive is cut off {}: {} files with {} are whole", where,
                           contents.entries.size(), format_bytes(contents.whole_bytes)),
               "copy it again and compare the sizes"};
}

Error no_archive() {
  return Error{Code::kCorrupt, "not a Fathom archive", "`fathom pack RUN` makes one"};
}

Status read_block(const Fd& archive, int64_t at, TarBlock& block) {
  size_t filled = 0;
  while (filled < block.size()) {
    const ssize_t got = pread(archive.get(), block.data() + filled, block.size() - filled,
                              at + static_cast<int64_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read");
    if (got == 0) return Error{Code::kIo, "became shorter while it was read"};
    filled += static_cast<size_t>(got);
  }
  return {};
}

// "TOP/FILE", or "TOP/" for the folder itself (file is empty then).
Result<std::pair<std::string, std::string>> split_name(const std::string& name) {
  const size_t slash = name.find('/');
  const std::string top = name.substr(0, slash);
  const std::string file = slash == std::string::npos ? "" : name.substr(slash + 1);
  if (is_plain_name(top) && slash != std::string::npos && (file.empty() || is_plain_name(file))) {
    return std::pair{top, file};
  }
  return Error{Code::kCorrupt,
               fmt::format("'{}' is not a name that a recording has", printable(name)),
               "nothing was unpacked"};
}

Status add_entry(Contents& contents, const TarHeader& header, int64_t data_at) {
  TRY_ASSIGN(const auto parts, split_name(header.name));
  const auto& [top, file] = parts;
  if (contents.top.empty()) contents.top = top;
  if (top != contents.top) {
    return Error{Code::kCorrupt,
                 fmt::format("it has more than one folder: {} and {}", contents.top, top)};
  }
  if (header.type == '5' && file.empty() && header.size_bytes == 0) return {};
  if (header.type != '0' || file.empty()) {
    return Error{Code::kCorrupt, fmt::format("'{}' is not a regular file", printable(header.name)),
                 "a packed recording has no links, folders or devices in it"};
  }
  if (!contents.names.insert(file).second) {
    return Error{Code::kCorrupt, fmt::format("it has two files of the name {}", file)};
  }
  if (contents.entries.size() >= kMostFiles) return Error{Code::kCorrupt, "it has too many files"};
  contents.entries.push_back({file, data_at, header.size_bytes});
  contents.whole_bytes += header.size_bytes;
  return {};
}

Result<Contents> read_contents(const Fd& archive, int64_t archive_bytes) {
  Contents contents;
  TarBlock block{};
  for (int64_t at = 0;;) {
    if (archive_bytes - at < kTarBlockBytes)
      return at == 0 ? no_archive() : cut_off(contents, "where a file's header should be");
    TRY(read_block(archive, at, block));
    at += kTarBlockBytes;
    if (is_zero_block(block)) {
      if (archive_bytes - at < kTarBlockBytes) return cut_off(contents, "in its end mark");
      break;
    }
    if (at == kTarBlockBytes && !has_tar_magic(block)) return no_archive();
    TRY_ASSIGN(const TarHeader header, decode_tar_header(block));
    if (header.size_bytes > archive_bytes - at) {
      TRY(split_name(header.name));
      return cut_off(
          contents, fmt::format("in {}, of which {} of {} are there", header.name,
                                format_bytes(archive_bytes - at), format_bytes(header.size_bytes)));
    }
    TRY(add_entry(contents, header, at));
    at += tar_padded(header.size_bytes);
  }
  if (contents.entries.empty()) return Error{Code::kCorrupt, "it has no files"};
  if (!contents.names.contains(kJournalName) &&
      !contents.names.contains(std::string(TableOf<Run>::kName) + ".parquet")) {
    return Error{Code::kCorrupt, "it holds no recording: neither a journal nor runs.parquet",
                 "`fathom pack RUN` makes one that does; nothing was unpacked"};
  }
  return contents;
}

Status write_entry(const Fd& archive, const Entry& entry, const std::string& folder) {
  const std::string path = folder + "/" + entry.name;
  TRY_ASSIGN(const Fd file,
             open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, kPrivateFileMode));
  if (lseek(archive.get(), entry.at, SEEK_SET) != entry.at) return errno_error("seek");
  TRY(copy_bytes(archive, file, entry.size_bytes));
  if (fsync(file.get()) != 0) return errno_error("fsync " + path);
  return {};
}

Status write_recording(const Fd& archive, const Contents& contents, const std::string& folder) {
  if (path_exists(folder)) {
    return Error{Code::kExists, folder + " exists already", "-o NAME unpacks under another name"};
  }
  TemporaryPlace place(folder);
  TRY(place.make_folder());
  for (const Entry& entry : contents.entries) TRY(write_entry(archive, entry, place.path()));
  TRY(sync_folder(place.path()));
  return place.keep(false);
}

Result<Contents> checked_contents(const Fd& archive, const std::string& folder) {
  struct stat facts {};
  if (fstat(archive.get(), &facts) != 0) return errno_error("stat");
  if (!S_ISREG(facts.st_mode)) return no_archive();
  TRY_ASSIGN(Contents contents, read_contents(archive, facts.st_size));
  if (folder.empty() && !contents.top.ends_with(".fathom")) {
    return Error{Code::kCorrupt, fmt::format("its folder {} does not end in .fathom", contents.top),
                 "-o NAME says where to unpack it"};
  }
  return contents;
}

}  // namespace

Result<std::string> unpack_recording(const std::string& file, const std::string& folder) {
  TRY_ASSIGN(const Fd archive, open_file(file, O_RDONLY | O_NONBLOCK));
  auto contents = checked_contents(archive, folder);
  if (!contents.ok()) return std::move(contents).error().within("unpack " + file);
  const std::string target = folder.empty() ? contents.value().top : folder;
  if (auto written = write_recording(archive, contents.value(), target); !written.ok()) {
    return std::move(written).error().within("unpack " + file);
  }
  return target;
}

}  // namespace fathom
