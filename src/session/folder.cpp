// SPDX-License-Identifier: Apache-2.0
#include "session/folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "record/column.h"
#include "record/recording.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNumbers = 100'000;

Error cannot_make(const std::string& folder, int error_number) {
  Error error = errno_error("make " + folder, error_number);
  if (error_number == EEXIST) {
    error =
        Error{Code::kExists, folder + " exists already",
              "choose another name with -o, replace it with --force, or look at it with: fathom "
              "report " +
                  folder};
  } else if (error_number == ENOENT) {
    const std::string parent = fs::path(folder).parent_path();
    error.hint = "make the folder it is to be in first: mkdir -p " + shell_quote(parent);
  } else if (error.code == Code::kNoSpace) {
    error.hint = "no command was started: make room, or write elsewhere with -o FOLDER/NAME";
  } else if (error.code == Code::kPermission) {
    error.hint = "record elsewhere with: fathom run -o FOLDER/NAME -- COMMAND";
  }
  return error;
}

// chmod() because the umask must not narrow what was requested.
bool make_folder(const std::string& folder, unsigned file_mode) {
  const unsigned mode = directory_mode(file_mode);
  return mkdir(folder.c_str(), mode) == 0 && chmod(folder.c_str(), mode) == 0;
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

bool is_file_of_recording(const std::string& name) {
  for (const char* known : {kJournalName, kRunFileName, kChecksumsName, kConvertingName}) {
    if (name == known) return true;
  }
  return std::any_of(all_tables().begin(), all_tables().end(), [&](const TableColumns& table) {
    return name == std::string(table.name) + ".parquet";
  });
}

// Only what a recorder made goes, and only when it is done with it.
Status check_replaceable(const std::string& folder) {
  const auto refuse = [&](const std::string& why) {
    return Error{Code::kExists, folder + " is not replaced: " + why, "choose another name with -o"};
  };
  std::error_code failed;
  if (fs::is_symlink(folder, failed)) return refuse("it is a link");
  if (!fs::is_directory(folder, failed)) return refuse("it is not a folder");
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (!is_file_of_recording(name)) return refuse("it also holds " + name);
  }
  const bool recorded = fs::exists(folder + "/" + kJournalName, failed) ||
                        fs::exists(folder + "/" + TableOf<Run>::kName + ".parquet", failed);
  if (failed) return errno_error("look into " + folder, failed.value());
  if (!recorded) return refuse("it is not a recording");
  if (journal_use(folder + "/" + kJournalName) == JournalUse::kInUse)
    return refuse("it is still being recorded");
  return {};
}

// What another user left may contain links to where only this one may write.
bool is_own(const std::string& folder) {
  struct stat state {};
  return lstat(folder.c_str(), &state) == 0 && state.st_uid == geteuid();
}

// A journal is no less for its tables not being made, but may lack what the disk had no room for.
bool is_complete(const std::string& folder) {
  const auto recording = Recording::open(folder);
  if (!recording.ok()) return false;
  const auto facts = collect_as_written(recording.value(), tables_of<Run>());
  return facts.ok() && damage_of(recording.value(), *facts.value()).empty();
}

}  // namespace

Result<SetAside> SetAside::make(const std::string& folder) {
  std::error_code failed;
  SetAside moved;
  if (!fs::exists(fs::symlink_status(folder, failed))) return moved;
  TRY(check_replaceable(folder));
  const std::string aside = folder + ".replaced";
  if (fs::exists(aside, failed)) {  // left by a killed run
    TRY(check_replaceable(aside));
    fs::remove_all(aside, failed);
  }
  if (rename(folder.c_str(), aside.c_str()) != 0) return errno_error("rename " + folder);
  moved.folder_ = folder;
  moved.aside_ = aside;
  return moved;
}

SetAside::~SetAside() {
  std::error_code ignored;
  if (folder_.empty()) return;
  if (fs::exists(folder_, ignored)) {
    fs::remove_all(aside_, ignored);
  } else {
    fs::rename(aside_, folder_, ignored);
  }
}

std::string run_folder_name(const std::string& wanted) {
  std::string folder = wanted;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!folder.ends_with(kFolderSuffix)) folder += kFolderSuffix;
  return folder.starts_with('-') ? "./" + folder : folder;  // or it is a flag to every command
}

Result<std::string> make_run_folder(const std::string& wanted,
                                    const std::vector<std::string>& command, unsigned file_mode) {
  if (!wanted.empty()) {
    const std::string folder = run_folder_name(wanted);
    if (!make_folder(folder, file_mode)) return cannot_make(folder, errno);
    return folder;
  }
  const std::string name = base_name(command);
  for (int number = 1; number <= kMostNumbers; ++number) {
    const std::string folder = name + "-" + std::to_string(number) + kFolderSuffix;
    if (make_folder(folder, file_mode)) return folder;
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
  if (finished.status == 128 + SIGINT) {
    said = "interrupted";
    fs::remove_all(folder + "/" + kConvertingName, ignored);
  }
  if (said.starts_with("fathom: error: ")) said.erase(0, 15);
  return Error{Code::kIo, "no tables were made: " + said,
               (is_complete(folder) ? "the journal is a complete recording; "
                                    : "the journal keeps what was written; ") +
                   ("try again with: fathom convert " + folder)};
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
    if (!related || !is_own(entry.path()) || !fs::exists(journal, error) || journal_in_use(journal))
      continue;
    const auto recording = Recording::open(entry.path());
    if (!recording.ok() || recording.value().journal()->health().sealed) continue;
    if (make_tables(entry.path()).ok()) recovered.push_back(entry.path());
  }
  return recovered;
}

}  // namespace fathom
