// SPDX-License-Identifier: Apache-2.0
// Whether the hub accepts data. The store is checked at most once per kCheckNs, however often it is
// requested, because a check writes to the disk. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "hub/committer.h"
#include "store/store.h"

namespace fathom {

class Readiness {
 public:
  Readiness(Store& store, const Committer& committer) : store_(store), committer_(committer) {}

  // What keeps data from being stored. While one thread checks, others get the previous result.
  Status check(int64_t now_ns);
  static constexpr int64_t kCheckNs = 1'000'000'000;

 private:
  Store& store_;
  const Committer& committer_;
  std::mutex checking_;  // held during a check
  std::mutex mutex_;     // guards what follows
  std::optional<Error> trouble_;
  int64_t checked_ns_ = INT64_MIN;
};

}  // namespace fathom
