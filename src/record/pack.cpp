// SPDX-License-Identifier: Apache-2.0
#include "record/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "record/pack_header.h"
#include "record/pack_place.h"

namespace fathom {
namespace {

// The folder's own name with what an archive may not hold replaced: "my run.fathom" ->
// "my_run.fathom".
std::string top_name(std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  std::error_code failed;
  std::string name = std::filesystem::path(folder).filename();
  if (name.empty() || name == "." || name == "..") {
    name = std::filesystem::canonical(folder, failed).filename();
  }
  for (char& byte : name) {
    if (!is_plain_name(std::string{'x', byte})) byte = '_';
  }
  name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
  return name.empty() ? "recording" : name;
}

// The names of what the folder holds, sorted, without hidden ones.
Result<std::vector<std::string>> visible_names(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entries(folder, failed);
  for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
    std::string name = entries->path().filename();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  if (failed) return errno_error("read folder " + folder, failed.value());
  std::sort(names.begin(), names.end());
  return names;
}

Status write_padding(const Fd& archive, int64_t size_bytes) {
  const TarBlock zeros{};
  return write_all(archive.get(),
                   {zeros.data(), static_cast<size_t>(tar_padded(size_bytes) - size_bytes)});
}

Status add_file(const Fd& archive, const std::string& path, const std::string& name_in_archive) {
  // Without O_NONBLOCK a pipe that somebody put there would wait for ever.
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return errno_error("stat " + path);
  if (!S_ISREG(facts.st_mode)) return Error{Code::kUnsupported, path + " is not a regular file"};
  TarHeader header;
  header.name = name_in_archive;
  header.size_bytes = facts.st_size;
  header.modified_s = facts.st_mtim.tv_sec;
  TRY_ASSIGN(const TarBlock block, encode_tar_header(header));
  TRY(write_all(archive.get(), {block.data(), block.size()}));
  if (auto copied = copy_bytes(file, archive, facts.st_size); !copied.ok()) {
    if (copied.error().code != Code::kCorrupt) return std::move(copied).error().within(path);
    return Error{Code::kIo, path + " became shorter while it was packed",
                 "pack when the run has ended"};
  }
  return write_padding(archive, facts.st_size);
}

Status write_archive(const Fd& archive, const std::string& folder) {
  TRY_ASSIGN(const auto names, visible_names(folder));
  if (names.empty()) return Error{Code::kNotFound, folder + " is empty: there is nothing to pack"};
  const std::string top = top_name(folder);
  for (const std::string& name : names) {
    if (!is_plain_name(name)) {
      return Error{Code::kUnsupported,
                   "the file name '" + printable(name) + "' does not belong in a recording",
                   "names have letters, digits, '.', '_', '-' and '+' only"};
    }
    TRY(add_file(archive, fmt::format("{}/{}", folder, name), fmt::format("{}/{}", top, name)));
  }
  const std::string end(2 * kTarBlockBytes, '\0');
  return write_all(archive.get(), end);
}

Error taken(const std::string& file) {
  return Error{Code::kExists, file + " exists already",
               "--force replaces it, -o FILE names another"};
}

}  // namespace

std::string packed_name(std::string_view folder) { return top_name(folder) + ".tar"; }

Status pack_recording(const std::string& folder, const std::string& file, Overwrite overwrite) {
  struct stat facts {};
  if (stat(folder.c_str(), &facts) != 0) return errno_error("pack " + folder);
  if (!S_ISDIR(facts.st_mode)) {
    return Error{Code::kUnsupported, folder + " is not a recording: a recording is a folder"};
  }
  const bool replace = overwrite == Overwrite::kYes;
  if (!replace && path_exists(file)) return taken(file);
  TemporaryPlace place(file);
  {
    TRY_ASSIGN(const Fd archive, place.make_file());
    if (auto written = write_archive(archive, folder); !written.ok()) {
      return std::move(written).error().within("pack " + folder);
    }
    if (fsync(archive.get()) != 0) return errno_error("fsync " + place.path());
  }
  auto kept = place.keep(replace);
  if (!kept.ok() && kept.error().code == Code::kExists) return taken(file);
  return kept;
}

}  // namespace fathom
