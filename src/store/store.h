// SPDX-License-Identifier: Apache-2.0
// Where a hub keeps jobs, sums, benchmark rows and how far each run has come: one interface,
// several engines, one contract test suite (tests/store). All members may be called from any
// thread; each call is a transaction of its own, durable when it returns.
//
// Exactly once: a Change says for each run which sequence it must stand at and which it then has.
// Sums, rows and sequences change together or not at all, so that what is sent twice counts once,
// also through several hubs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom {

constexpr int64_t kFirstJob = 2001;
constexpr int64_t kLastJob = 9999;
constexpr size_t kMostDescriptionBytes = 4096;
constexpr size_t kMostMarks = 10'000;  // kept of a job, the newest

struct Job {
  int64_t id = 0;
  std::string description, labels;  // labels: a JSON object
  int64_t created_ns = 0;           // since 1970
  int64_t rows = 0;                 // benchmark rows
};

// Symbol, program and event with a NUL between: one text, as engines and hubs look it up.
std::string sum_key(std::string_view symbol, std::string_view program, std::string_view event);
struct SumName {
  std::string_view symbol, program, event;
};
SumName split_sum_key(std::string_view key);

struct SumDelta {
  std::string key;
  int64_t delta = 0;
};
struct GaugeValue {
  std::string name, unit, scope;
  double value = 0;
  int64_t time_ns = 0;  // since 1970
  bool operator==(const GaugeValue&) const = default;
};
struct MarkText {
  int64_t time_ns = 0;
  std::string text;
  bool operator==(const MarkText&) const = default;
};
struct RunAdvance {
  std::string run, host;
  uint64_t from = 0;  // the last sequence that was applied; 0: none
  uint64_t to = 0;
};

// What is applied to one job at once.
struct Change {
  int64_t job = 0;
  int64_t time_ns = 0;
  std::vector<RunAdvance> runs;
  std::vector<SumDelta> sums;                              // no key twice
  std::vector<std::pair<std::string, std::string>> units;  // event, unit; the first one stays
  std::vector<std::string> rows;                           // JSON objects
  std::vector<GaugeValue> gauges;
  std::vector<MarkText> marks;
  std::string event;  // for listeners, of every hub on this store; empty: none
};

struct Applied {
  enum class How { kApplied, kConflict, kNoJob, kRefused } how = How::kApplied;
  std::vector<std::pair<std::string, uint64_t>> stands;  // kConflict: where those runs stand
  std::string why;                                       // kRefused: a sum beyond 64 bits
};

struct RunState {
  std::string run, host;
  uint64_t sequence = 0;
  int64_t first_ns = 0, last_ns = 0;
};

struct SumRow {
  std::string symbol, program, event, unit;
  int64_t sum = 0;
};
struct SumPage {
  std::vector<SumRow> rows;  // the events of one node stand together, never cut by a page's end
  std::string next;          // where the next page begins; empty: this was the last
};

class Store {
 public:
  virtual ~Store() = default;

  // id 0: the next free one. kExists, or kInvalid for ids that cannot be.
  virtual Result<Job> create_job(int64_t id, const std::string& description,
                                 const std::string& labels) = 0;
  // Listeners receive removed_event(). kNotFound.
  virtual Status remove_job(int64_t id) = 0;
  virtual Result<std::vector<Job>> jobs() = 0;
  virtual Result<Job> job(int64_t id) = 0;  // kNotFound

  // One answer a change, in order. An error: whether they were applied is not known; apply them
  // again, sequences tell.
  virtual Result<std::vector<Applied>> apply(std::span<const Change> changes) = 0;
  virtual Result<uint64_t> last_sequence(int64_t job, const std::string& run) = 0;

  virtual Result<std::vector<RunState>> runs(int64_t job) = 0;
  virtual Result<SumPage> sums(int64_t job, const std::string& from) = 0;
  virtual Result<std::vector<std::string>> rows(int64_t job, int64_t from, int64_t most) = 0;
  virtual Status clear_rows(int64_t job) = 0;
  virtual Result<std::vector<GaugeValue>> gauges(int64_t job) = 0;
  virtual Result<std::vector<MarkText>> marks(int64_t job) = 0;  // the oldest first

  // Called with every Change::event, also those of other hubs, on a thread of the store's. Once.
  using Listener = std::function<void(int64_t job, const std::string& event)>;
  // What keeps the engine from answering, once; nothing when it answers again. On that thread.
  using Notice = std::function<void(const Error* trouble)>;
  virtual void listen(Listener listener, Notice notice) = 0;

  virtual Status ready() = 0;
  // What the operator should know, such as settings with which acknowledged data may be lost.
  virtual std::vector<std::string> warnings() { return {}; }
  // Commands given to the engine so far that add to a sum.
  [[nodiscard]] virtual int64_t sums_written() const = 0;
};

struct StoreInfo {
  const char* scheme;  // of the address that names it, as "sqlite" or "redis"
  const char* summary;
  Result<std::unique_ptr<Store>> (*open)(const std::string& address);
};

// The table of stores: one line each in all_stores.cpp.
std::span<const StoreInfo> all_stores();
// "sqlite:FILE", "redis://[user[:password]@]host[:port][/db]".
Result<std::unique_ptr<Store>> open_store(const std::string& address);

// The event by which listeners of all hubs learn that a job was removed.
std::string removed_event(int64_t id);

// Shared by the engines.
Status check_new_job(int64_t id, const std::string& description);
Error no_such_job(int64_t id);

}  // namespace fathom
