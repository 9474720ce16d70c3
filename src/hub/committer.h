// SPDX-License-Identifier: Apache-2.0
// Brings batches into the store. They come from any thread; one thread takes all that have come,
// adds equal sums up, applies them in one go and answers each. While it does, the next ones gather:
// the busier the hub, the larger the steps.
//
// A batch is (run, sequence). One that was applied before is acknowledged again, one that leaves a
// gap is refused. What hubs remember of runs is a guess that the store confirms. A store that does
// not answer is asked again for as long as patience lasts; nothing is acknowledged meanwhile. One
// that is full fails batches at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hub/contribution.h"
#include "store/store.h"

namespace fathom {

struct Outcome {
  enum class How { kApplied, kGap, kNoJob, kRefused, kUnavailable, kFull } how = How::kApplied;
  uint64_t acknowledged = 0;  // of this run, as far as is known
  std::string why;
};

struct Incoming {
  int64_t job = 0;
  std::string run, host;
  uint64_t sequence = 0;  // from 1
  Contribution data;
  std::function<void(Outcome)> done;  // called once, on the committer's thread
};

struct CommitCounts {
  std::atomic<int64_t> batches{0}, duplicates{0}, refused{0}, updates{0}, commits{0}, retries{0},
      waiting{0};
};

class Committer {
 public:
  Committer(Store& store, int64_t patience_ns);
  ~Committer() { stop(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void submit(Incoming incoming);
  // Applies what has come, without patience, and takes no more.
  void stop();
  // The job was removed: what is remembered of its runs is nothing.
  void forget(int64_t job);
  [[nodiscard]] const CommitCounts& counts() const { return counts_; }
  // Why the last attempt to store something failed, unless that was long ago.
  [[nodiscard]] std::optional<Error> trouble(int64_t now_ns) const;

 private:
  using RunKey = std::pair<int64_t, std::string>;
  struct Draft;
  using Work = std::deque<Incoming>;

  void serve();
  void bring_in(Work& work);
  // Takes from `work` what fits one step.
  std::map<int64_t, Draft> draft(Work& work);
  // Whether it waits for the next step, so that small batches need not wait for several large ones.
  bool defer(const Incoming& incoming, Draft& draft);
  bool place(Incoming& incoming, std::map<int64_t, Draft>& drafts, Work& later);
  Result<uint64_t> stands_at(const RunKey& key, bool ask_store);
  Result<std::vector<Applied>> apply_with_patience(std::span<const Change> changes);
  void settle(Draft& draft, const Applied& answer, Work& again);
  void apply_apart(int64_t job, Work members, Work& again);
  void apply_halves(Draft& refused, Work& again);
  void finish(Incoming& incoming, Outcome outcome);
  void fail(Incoming& incoming, const Error& error);
  bool wait_to_retry(int64_t give_up_ns, int& attempt);

  Store& store_;
  int64_t patience_ns_;
  CommitCounts counts_;
  std::map<RunKey, uint64_t> known_;  // the committer's own
  bool defers_large_ = false;         // in this step

  void note(const Error* failure);

  mutable std::mutex trouble_mutex_;
  std::optional<Error> trouble_;  // under trouble_mutex_
  int64_t trouble_ns_ = 0;        // when it was last met
  std::mutex mutex_;
  std::condition_variable came_;
  Work queue_;                   // under mutex_
  std::vector<int64_t> forget_;  // under mutex_
  bool stop_ = false;            // under mutex_
  std::thread thread_;
};

}  // namespace fathom
