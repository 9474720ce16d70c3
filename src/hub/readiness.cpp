// SPDX-License-Identifier: Apache-2.0
#include "hub/readiness.h"

namespace fathom {

Status Readiness::check(int64_t now_ns) {
  // A small write may succeed where batches fail, e.g. inside the reserved part of a log file.
  const auto failed = committer_.trouble(now_ns);
  if (failed && (failed->code == Code::kNoSpace || committer_.counts().waiting > 0)) return *failed;
  std::unique_lock checking(checking_, std::defer_lock);
  {
    const std::lock_guard lock(mutex_);
    const bool known = checked_ns_ != INT64_MIN;
    if (known && (now_ns - checked_ns_ < kCheckNs || !checking.try_lock()))
      return trouble_ ? Status(*trouble_) : Status();
  }
  if (!checking.owns_lock()) checking.lock();
  auto status = store_.ready();
  const std::lock_guard lock(mutex_);
  trouble_ = status.ok() ? std::nullopt : std::optional(status.error());
  checked_ns_ = now_ns;
  return status;
}

}  // namespace fathom
