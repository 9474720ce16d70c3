// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/scratch_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSpools = 100'000;  // of files that somebody put there

}  // namespace

Result<std::unique_ptr<SpoolFolder>> SpoolFolder::make() {
  // Programs that run as somebody else write here too; nobody can list what others wrote.
  TRY_ASSIGN(std::string path, make_scratch_folder("spool", 01733));
  return std::unique_ptr<SpoolFolder>(
      new SpoolFolder(std::move(path), TickClock::of_this_machine()));
}

SpoolFolder::~SpoolFolder() {
  readers_.clear();
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> SpoolFolder::environment(const std::string& mode, int64_t start_ns,
                                                  int64_t interval_ns, int64_t chunks,
                                                  const std::string& suffix) const {
  return {"FATHOM_SPOOL" + suffix + "=" + path_,
          "FATHOM_MODE" + suffix + "=" + mode,
          fmt::format("FATHOM_TICKS{}={}", suffix, clock_.rate()),
          fmt::format("FATHOM_START_NS{}={}", suffix, start_ns),
          fmt::format("FATHOM_INTERVAL_NS{}={}", suffix, interval_ns),
          fmt::format("FATHOM_CHUNKS{}={}", suffix, chunks)};
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
