// SPDX-License-Identifier: Apache-2.0
#include "session/folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/subprocess.h"
#include "record/recording.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNumbers = 100'000;

Error cannot_make(const std::string& folder, int error_number) {
  Error error = errno_error("make " + folder, error_number);
  if (error_number == EEXIST) {
    error = Error{Code::kExists, folder + " exists already",
                  "choose another name with -o, or look at it with: fathom report " + folder};
  } else if (error.code == Code::kPermission) {
    error.hint = "record elsewhere with: fathom run -o FOLDER/NAME -- COMMAND";
  }
  return error;
}

std::string base_name(const std::vector<std::string>& command) {
  std::string name = command.empty() ? "" : fs::path(command[0]).filename().string();
  constexpr std::string_view kKept = "._-+";
  for (char& byte : name) {
    const bool plain = isalnum(static_cast<unsigned char>(byte)) != 0;
    if (!plain && kKept.find(byte) == std::string_view::npos) byte = '_';
  }
  return name.empty() || name[0] == '.' ? "run" : name.substr(0, 64);
}

}  // namespace

std::string run_folder_name(const std::string& wanted) {
  std::string folder = wanted;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!folder.ends_with(kFolderSuffix)) folder += kFolderSuffix;
  return folder;
}

Result<std::string> make_run_folder(const std::string& wanted,
                                    const std::vector<std::string>& command) {
  if (!wanted.empty()) {
    const std::string folder = run_folder_name(wanted);
    if (mkdir(folder.c_str(), 0777) != 0) return cannot_make(folder, errno);
    return folder;
  }
  const std::string name = base_name(command);
  for (int number = 1; number <= kMostNumbers; ++number) {
    const std::string folder = name + "-" + std::to_string(number) + kFolderSuffix;
    if (mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) return cannot_make(folder, errno);
  }
  return Error{Code::kExists, "no free name " + name + "-N" + kFolderSuffix + " is left here"};
}

void drop_run_folder(const std::string& folder) {
  std::error_code ignored;
  fs::remove(folder + "/" + kJournalName, ignored);
  fs::remove(folder, ignored);
}

Status make_tables(const std::string& folder) {
  std::error_code ignored;
  const std::string self = fs::read_symlink("/proc/self/exe", ignored);
  TRY_ASSIGN(const Finished finished, run_to_end({self, "convert", folder}));
  if (finished.status == 0) return {};
  std::string said = finished.output.substr(0, finished.output.find('\n'));
  if (said.starts_with("fathom: error: ")) said.erase(0, 15);
  return Error{Code::kIo, "no tables were made: " + said,
               "the journal is a complete recording; try again with: fathom convert " + folder};
}

std::vector<std::string> recover_left_behind(const std::string& folder) {
  std::vector<std::string> recovered;
  std::error_code error;
  const fs::path path(folder);
  const std::string own = path.filename();
  const std::string stem = own.substr(0, own.rfind('-') + 1);
  const fs::path around = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(around, error)) {
    const std::string name = entry.path().filename();
    const bool related =
        name == own || (!stem.empty() && name.starts_with(stem) && name.ends_with(kFolderSuffix));
    const std::string journal = entry.path() / kJournalName;
    if (!related || !fs::exists(journal, error) || journal_in_use(journal)) continue;
    const auto recording = Recording::open(entry.path());
    if (!recording.ok() || recording.value().journal()->health().sealed) continue;
    if (make_tables(entry.path()).ok()) recovered.push_back(entry.path());
  }
  return recovered;
}

}  // namespace fathom
