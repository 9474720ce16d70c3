// SPDX-License-Identifier: Apache-2.0
// Follows a journal while it is written and ships its frames to a hub: frame i is sequence i. The
// recorder never waits for it; what is in the journal and not yet acknowledged is shipped after a
// cut from where the hub stands. Runs on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "sink/hub_link.h"

namespace fathom {

class JournalShipper {
 public:
  // kNew: no part of the run can be on the hub yet, which need not respond now.
  // kAny: queries first how much of it the hub has, and whether the job exists.
  enum class Of { kNew, kAny };
  static Result<std::unique_ptr<JournalShipper>> start(const HubTarget& target,
                                                       const std::string& run,
                                                       const std::string& journal, Of of);
  ~JournalShipper();
  JournalShipper(const JournalShipper&) = delete;
  JournalShipper& operator=(const JournalShipper&) = delete;

  // The journal is complete: waits until the rest has arrived, but at most `timeout_ns`, and at
  // most `stalled_ns` without progress. `torn`: it may lack its end, as after a kill of the
  // recorder.
  Status finish(int64_t timeout_ns, int64_t stalled_ns, bool torn = false);
  [[nodiscard]] uint64_t shipped() const { return shipped_; }

 private:
  JournalShipper(HubLink link, std::string journal)
      : link_(std::move(link)), path_(std::move(journal)) {}
  void follow();
  void end();  // of the thread
  Status ship_what_is_there();
  // As many whole frames as stand at offset_, at most a body's worth.
  Result<std::string> next_frames(uint64_t& frames);

  HubLink link_;
  std::string path_;
  Fd file_;
  int64_t offset_ = 0;
  uint64_t sequence_ = 0;  // of the last frame before offset_
  uint64_t acknowledged_ = 0;
  bool sealed_ = false;
  std::atomic<uint64_t> shipped_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;    // what follows
  bool whole_ = false, done_ = false;  // guarded by mutex_
  std::optional<Error> error_;
  std::thread thread_;
};

// Ships a journal that is no longer written, from where the hub stands.
Result<uint64_t> ship_journal(const HubTarget& target, const std::string& run,
                              const std::string& journal);

}  // namespace fathom
