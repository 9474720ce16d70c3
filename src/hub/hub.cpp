// SPDX-License-Identifier: Apache-2.0
#include "hub/hub.h"

#include "base/clock.h"
#include "base/log.h"

namespace fathom {

bool Held::reach(size_t bytes, size_t most_bytes) {
  const auto more = static_cast<int64_t>(bytes) - bytes_;
  if (more <= 0) return true;
  if ((counts_->pending_bytes += more) > static_cast<int64_t>(most_bytes)) {
    counts_->pending_bytes -= more;
    return false;
  }
  bytes_ += more;
  return true;
}

std::shared_ptr<Held> Hub::hold(size_t bytes) {
  auto held = std::make_shared<Held>(counts_);
  if (held->reach(bytes, options_.most_pending_bytes)) return held;
  ++counts_.turned_away;
  return nullptr;
}

Hub::Hub(HubOptions options) : options_(std::move(options)), started_ns_(monotonic_ns()) {
  live_.set_max_bytes(options_.most_pending_bytes / 8);
}

Hub::~Hub() {
  readiness_.reset();
  committer_.reset();
  store_.reset();
}

Result<std::unique_ptr<Hub>> Hub::open(const HubOptions& options) {
  auto hub = std::unique_ptr<Hub>(new Hub(options));
  const bool embedded = options.store.empty();
  if (embedded) {
    TRY_ASSIGN(hub->data_, DataDirectory::open(options.data, options.file_mode));
  }
  TRY_ASSIGN(hub->store_, open_store(embedded ? "sqlite:" + hub->data_.database() : options.store));
  hub->store_->listen(
      [live = &hub->live_](int64_t job, const std::string& event) { live->publish(job, event); },
      [](const Error* trouble) {
        if (trouble != nullptr)
          log_warning("the store is lost: {}", trouble->message);
        else
          log_info("the store is back");
      });
  hub->committer_ = std::make_unique<Committer>(*hub->store_, options.patience_ns);
  hub->readiness_ = std::make_unique<Readiness>(*hub->store_, *hub->committer_);
  return hub;
}

}  // namespace fathom
