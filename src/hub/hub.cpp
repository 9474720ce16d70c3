// SPDX-License-Identifier: Apache-2.0
#include "hub/hub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int64_t kDataVersion = 1;

// The folder with its VERSION, held by one hub at a time. Returns the lock's descriptor.
Result<int> hold_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return errno_error("make " + folder, failed.value());
  TRY_ASSIGN(Fd lock, open_file(folder + "/LOCK", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{Code::kExists, folder + " is in use by another hub",
                 "choose another folder with --data, or stop that one"};
  const std::string file = folder + "/VERSION";
  if (!std::filesystem::exists(file)) {
    TRY(write_file(file + ".new", fmt::format("{}\n", kDataVersion)));
    std::filesystem::rename(file + ".new", file, failed);
    if (failed) return errno_error("write " + file, failed.value());
    TRY(sync_folder(folder));
  }
  TRY_ASSIGN(std::string text, read_file(file, 64));
  while (text.ends_with('\n')) text.pop_back();
  const auto version = parse_number(text);
  if (!version.ok() || version.value() < 1)
    return Error{Code::kCorrupt, file + " is no version", "is " + folder + " the right folder?"};
  if (version.value() > kDataVersion)
    return Error{Code::kUnsupported, fmt::format("{} is of version {}, made by a newer hub; this "
                                                 "one knows version {}",
                                                 folder, version.value(), kDataVersion)};
  return lock.release();
}

}  // namespace

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

Hub::Hub(HubOptions options) : options_(std::move(options)), started_ns_(monotonic_ns()) {}

Hub::~Hub() {
  committer_.reset();
  store_.reset();
  if (lock_fd_ >= 0) close(lock_fd_);
}

Result<std::unique_ptr<Hub>> Hub::open(const HubOptions& options) {
  auto hub = std::unique_ptr<Hub>(new Hub(options));
  const bool embedded = options.store.empty();
  if (embedded) {
    TRY_ASSIGN(hub->lock_fd_, hold_folder(options.data));
  }
  TRY_ASSIGN(hub->store_,
             open_store(embedded ? "sqlite:" + options.data + "/hub.sqlite" : options.store));
  hub->store_->listen(
      [live = &hub->live_](int64_t job, const std::string& event) { live->publish(job, event); },
      [](const Error* trouble) {
        if (trouble != nullptr)
          log_warning("the store is lost: {}", trouble->message);
        else
          log_info("the store is back");
      });
  hub->committer_ = std::make_unique<Committer>(*hub->store_, options.patience_ns);
  return hub;
}

}  // namespace fathom
