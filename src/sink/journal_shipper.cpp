// SPDX-License-Identifier: Apache-2.0
#include "sink/journal_shipper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/frame.h"
#include "record/journal.h"

namespace fathom {
namespace {

constexpr size_t kMostBodyBytes = size_t{16} << 20;
constexpr size_t kMaxRawBytesAtOnce = size_t{128} << 20;  // decompressed; a hub accepts 256 MiB
constexpr uint64_t kMostFrames = 256;
constexpr int64_t kShipTimeoutNs = 24 * 3600 * kNsPerSecond, kShipStalledNs = 60 * kNsPerSecond;
constexpr std::chrono::milliseconds kPause{100};  // frames come about once a second

std::string bytes_at(int fd, int64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t got = pread(fd, bytes.data() + have, size - have,
                              static_cast<off_t>(offset + static_cast<int64_t>(have)));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<JournalShipper>> JournalShipper::start(const HubTarget& target,
                                                              const std::string& run,
                                                              const std::string& journal, Of of) {
  TRY_ASSIGN(HubLink link, HubLink::make(target, run));
  link.set_patience_ns(2 * kNsPerSecond);
  auto shipper = std::unique_ptr<JournalShipper>(new JournalShipper(std::move(link), journal));
  if (of == Of::kAny) {
    TRY_ASSIGN(shipper->acknowledged_, shipper->link_.acknowledged());
  }
  TRY_ASSIGN(shipper->file_, open_file(journal, O_RDONLY | O_CLOEXEC));
  shipper->offset_ = kJournalHeaderBytes;
  shipper->link_.give_up_when(&shipper->stop_);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  shipper->thread_ = std::thread([raw = shipper.get()] { raw->follow(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return shipper;
}

JournalShipper::~JournalShipper() { end(); }

void JournalShipper::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<std::string> JournalShipper::next_frames(uint64_t& frames) {
  std::string body;
  size_t raw_bytes = 0;
  for (frames = 0; frames < kMostFrames && !sealed_;) {
    const std::string head = bytes_at(file_.get(), offset_, kFrameHeaderBytes);
    if (head.size() < kFrameHeaderBytes) break;
    const auto header = parse_frame_header(head);
    if (!header.ok()) break;  // not all of it has been written yet, or it is damaged
    const size_t size = kFrameHeaderBytes + header.value().payload_bytes;
    raw_bytes += header.value().raw_bytes;
    if (!body.empty() && (body.size() + size > kMostBodyBytes || raw_bytes > kMaxRawBytesAtOnce))
      break;
    const std::string frame = bytes_at(file_.get(), offset_, size);
    if (frame.size() < size || !decode_frame(frame, 0).ok()) break;
    offset_ += static_cast<int64_t>(size);
    ++sequence_;
    sealed_ = header.value().sealed();
    if (sequence_ <= acknowledged_) continue;  // of an earlier attempt
    body += frame;
    ++frames;
  }
  return body;
}

Status JournalShipper::ship_what_is_there() {
  while (true) {
    uint64_t frames = 0;
    const int64_t offset = offset_;
    const uint64_t sequence = sequence_;
    const bool sealed = sealed_;
    TRY_ASSIGN(const std::string body, next_frames(frames));
    if (body.empty()) return {};
    auto answer = link_.deliver("batches", kFramesType, sequence_ - frames + 1, body);
    if (!answer.ok()) {  // these again, the next time
      offset_ = offset;
      sequence_ = sequence;
      sealed_ = sealed;
      return std::move(answer).error();
    }
    shipped_ = sequence_;
  }
}

void JournalShipper::follow() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const bool whole = whole_;  // before the look: what is written later is seen then
    lock.unlock();
    auto shipped = ship_what_is_there();
    lock.lock();
    const bool passing = !shipped.ok() && shipped.error().code == Code::kIo;
    if (!shipped.ok()) error_ = shipped.error();
    if (shipped.ok()) error_.reset();
    if (!passing && (sealed_ || whole || !shipped.ok())) break;
    // The end of the journal is worth a look at once, unless the hub has just been away.
    changed_.wait_for(lock, kPause, [&] { return stop_ || (whole_ && !whole && !passing); });
  }
  done_ = true;
  changed_.notify_all();
}

Status JournalShipper::finish(int64_t timeout_ns, int64_t stalled_ns, bool torn) {
  {
    std::unique_lock lock(mutex_);
    whole_ = true;
    changed_.notify_all();
    int64_t now_ns = monotonic_ns(), progress_ns = now_ns;
    const int64_t end_ns = now_ns + timeout_ns;
    for (uint64_t shipped = shipped_; !done_; now_ns = monotonic_ns()) {
      if (shipped_ != shipped) progress_ns = now_ns;
      shipped = shipped_;
      const int64_t until_ns = std::min(end_ns, progress_ns + stalled_ns);
      if (now_ns >= until_ns) break;
      changed_.wait_for(
          lock, std::min(kPause, std::chrono::milliseconds(1) +
                                     std::chrono::milliseconds((until_ns - now_ns) / kNsPerMs)));
    }
  }
  end();
  if (error_) return *error_;
  if (!sealed_ && !torn) return Error{Code::kCorrupt, "the journal is not whole"};
  return {};
}

Result<uint64_t> ship_journal(const HubTarget& target, const std::string& run,
                              const std::string& journal) {
  TRY_ASSIGN(const auto shipper,
             JournalShipper::start(target, run, journal, JournalShipper::Of::kAny));
  TRY(shipper->finish(kShipTimeoutNs, kShipStalledNs, true));
  return shipper->shipped();
}

}  // namespace fathom
