// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/scratch_folder.h"
#include "base/text.h"

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

bool SpoolFolder::covers_program(std::string_view program) const {
  return std::any_of(covered_.begin(), covered_.end(),
                     [&](const auto& covered) { return covered.second == program; });
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
    incomplete_.erase(name);
    if (reader.ok()) {
      const SpoolHeader& head = reader.value()->header();
      const auto pid = static_cast<int64_t>(head.pid);
      covered_.emplace(ids_ == nullptr ? pid : ids_->process(head.pid_namespace, pid),
                       std::string(head.program, strnlen(head.program, sizeof head.program)));
      readers_.emplace(name, std::move(reader).value());
      ++seen_;
    } else {
      (reader.error().code == Code::kCorrupt ? incomplete_ : refused_).insert(name);
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
  sandboxed_before_ += reader.sandboxed();
  damaged_before_ += reader.damaged();
  damaged_headers_ += reader.has_damaged_header() ? 1 : 0;
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

int64_t SpoolFolder::sum(int64_t before, int64_t (SpoolReader::*of)() const) const {
  for (const auto& [name, reader] : readers_) before += ((*reader).*of)();
  return before;
}

std::vector<std::string> SpoolFolder::missing() const {
  std::vector<std::string> texts;
  const auto add = [&texts](int64_t count, const char* one, const char* several) {
    if (count > 0) texts.push_back(format_count(count) + (count == 1 ? one : several));
  };
  const auto headers =
      static_cast<int64_t>(refused_.size() + incomplete_.size()) + damaged_headers_;
  if (seen_ == 0 && headers == 0)
    texts.emplace_back(
        "nothing loaded the library: the program is static, setuid or not of glibc, or was ended "
        "before it began");
  add(headers, " spool is damaged: its header was overwritten, or never completed",
      " spools are damaged: their headers were overwritten, or never completed");
  add(lost(), " call was lost: the recorder came too late",
      " calls were lost: the recorder came too late");
  add(sandboxed(), " call was not recorded: its thread was under seccomp",
      " calls were not recorded: their threads were under seccomp");
  add(damaged(), " malformed record or chunk in spools", " malformed records and chunks in spools");
  return texts;
}

}  // namespace fathom
