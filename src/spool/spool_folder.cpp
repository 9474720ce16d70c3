// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "fathom-spool-";  // then the recorder's pid
constexpr size_t kMostSpools = 100'000;                // of files that somebody put there

// Where a file's pages are memory, and no disk is written.
std::string parent_folder() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen == '/' ? chosen : "/tmp";
}

}  // namespace

Result<std::string> make_drop_folder() {
  std::string path = fmt::format("{}/{}{}-XXXXXX", parent_folder(), kPrefix, getpid());
  if (mkdtemp(path.data()) == nullptr)
    return Error{Code::kIo, "cannot make " + path + ": " + std::strerror(errno),
                 "what runs inside the target needs a folder in memory or TMPDIR"};
  // Programs that run as somebody else write here too; nobody can list what others wrote.
  if (chmod(path.c_str(), 01733) != 0)
    return Error{Code::kIo, "cannot open " + path + " to others", ""};
  return path;
}

Result<std::unique_ptr<SpoolFolder>> SpoolFolder::make() {
  TRY_ASSIGN(std::string path, make_drop_folder());
  return std::unique_ptr<SpoolFolder>(
      new SpoolFolder(std::move(path), TickClock::of_this_machine()));
}

SpoolFolder::~SpoolFolder() {
  readers_.clear();
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> SpoolFolder::environment(const std::string& mode, int64_t start_ns,
                                                  int64_t interval_ns, int64_t chunks) const {
  return {"FATHOM_SPOOL=" + path_,
          "FATHOM_MODE=" + mode,
          fmt::format("FATHOM_TICKS={}", clock_.rate()),
          fmt::format("FATHOM_START_NS={}", start_ns),
          fmt::format("FATHOM_INTERVAL_NS={}", interval_ns),
          fmt::format("FATHOM_CHUNKS={}", chunks)};
}

void SpoolFolder::find_new() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename();
    if (readers_.contains(name) || refused_.contains(name)) continue;
    if (readers_.size() + refused_.size() >= kMostSpools) return;
    auto reader = SpoolReader::open(entry.path());
    if (reader.ok()) {
      const SpoolHeader& head = reader.value()->header();
      covered_.emplace(static_cast<int64_t>(head.pid),
                       std::string(head.program, strnlen(head.program, sizeof head.program)));
      readers_.emplace(name, std::move(reader).value());
      ++seen_;
    } else if (reader.error().code != Code::kCorrupt) {
      refused_.insert(name);
      ++damaged_before_;
    }
  }
}

void SpoolFolder::read(SpoolReader& reader, bool all, SpoolListener& listener) {
  const bool tsc = (reader.header().flags & kSpoolTsc) != 0;
  reader.drain(tsc ? clock_ : TickClock::of_spool(reader.header()), all, listener);
}

void SpoolFolder::let_go(const SpoolReader& reader) {
  lost_before_ += reader.lost();
  damaged_before_ += reader.damaged();
  (void)unlink(reader.path().c_str());
}

void SpoolFolder::drain(SpoolListener& listener) {
  clock_.look();
  find_new();
  for (auto at = readers_.begin(); at != readers_.end();) {
    const bool ended = !at->second->is_in_use();  // asked first: what comes after would be missed
    read(*at->second, ended, listener);
    if (ended) let_go(*at->second);
    at = ended ? readers_.erase(at) : std::next(at);
  }
}

void SpoolFolder::finish(SpoolListener& listener) {
  clock_.look();
  find_new();
  for (const auto& [name, reader] : readers_) {
    read(*reader, true, listener);
    let_go(*reader);
  }
  readers_.clear();
}

std::vector<std::string> leftover_spool_folders() {
  std::vector<std::string> left;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent_folder(), error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t pid = std::atoi(name.c_str() + kPrefix.size());
    struct stat status {};
    const bool ours = lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      (status.st_uid == geteuid() || geteuid() == 0);
    if (ours && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) left.push_back(entry.path());
  }
  return left;
}

int64_t SpoolFolder::lost() const {
  int64_t sum = lost_before_;
  for (const auto& [name, reader] : readers_) sum += reader->lost();
  return sum;
}

int64_t SpoolFolder::damaged() const {
  int64_t sum = damaged_before_;
  for (const auto& [name, reader] : readers_) sum += reader->damaged();
  return sum;
}

}  // namespace fathom
