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

std::vector<std::string> SpoolFolder::environment(const std::string& inside,
                                                  const std::string& mode, int64_t start_ns,
                                                  int64_t interval_ns, int64_t chunks,
                                                  const std::string& suffix) const {
  return {"FATHOM_SPOOL" + suffix + "=" + inside,
          "FATHOM_MODE" + suffix + "=" + mode,
          fmt::format("FATHOM_TICKS{}={}", suffix, clock_.rate()),
          fmt::format("FATHOM_START_NS{}={}", suffix, start_ns),
          fmt::format("FATHOM_INTERVAL_NS{}={}", suffix, interval_ns),
          fmt::format("FATHOM_CHUNKS{}={}", suffix, chunks)};
}

bool SpoolFolder::covers_name(int64_t pid, std::string_view start) const {
  for (auto at = covered_.lower_bound({pid, ""}); at != covered_.end() && at->first == pid; ++at)
    if (at->second.compare(at->second.rfind('/') + 1, start.size(), start) == 0) return true;
  return false;
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
      const auto pid = static_cast<int64_t>(head.pid);
      covered_.emplace(ids_ == nullptr ? pid : ids_->process(head.pid_namespace, pid),
                       std::string(head.program, strnlen(head.program, sizeof head.program)));
      readers_.emplace(name, std::move(reader).value());
      ++seen_;
    } else if (reader.error().code != Code::kCorrupt) {
      refused_.insert(name);
      ++damaged_before_;
    }
  }
}

namespace {

// Tells of each call with the ids that its process has here.
class Translated final : public SpoolListener {
 public:
  Translated(SpoolListener& next, NamespaceIds& ids) : next_(next), ids_(ids) {}
  void on_call(const SpoolCall& call) override {
    SpoolCall ours = call;
    translate(ours.origin);
    next_.on_call(ours);
  }
  void on_cell(const SpoolCell& cell) override {
    SpoolCell ours = cell;
    translate(ours.origin);
    next_.on_cell(ours);
  }

 private:
  void translate(SpoolOrigin& origin) {
    if (origin.pid_namespace == 0) return;
    origin.pid = ids_.process(origin.pid_namespace, origin.pid);
    origin.tid = ids_.thread(origin.pid_namespace, origin.tid);
  }

  SpoolListener& next_;
  NamespaceIds& ids_;
};

}  // namespace

void SpoolFolder::read(SpoolReader& reader, bool all, SpoolListener& listener) {
  if (ids_ != nullptr) {
    Translated translated(listener, *ids_);
    return read_as(reader, all, translated);
  }
  read_as(reader, all, listener);
}

void SpoolFolder::read_as(SpoolReader& reader, bool all, SpoolListener& listener) {
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
  if (ids_ != nullptr) ids_->look();
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
  if (ids_ != nullptr) ids_->look();
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
