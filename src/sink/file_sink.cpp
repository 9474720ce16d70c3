// SPDX-License-Identifier: Apache-2.0
#include "sink/file_sink.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "record/journal.h"

namespace fathom {
namespace {

constexpr size_t kQueueBytes = size_t{16} << 20;
// A little less than the session's second between frames, so that each is synced as it comes.
constexpr auto kSyncEvery = std::chrono::milliseconds(900);

class FileSink final : public Sink {
 public:
  explicit FileSink(JournalFile journal) : journal_(std::move(journal)) {
    // The thread takes no signals: they are the session's, and SIGXFSZ must come back as an error.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~FileSink() override { stop(); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void write(std::string frame, int64_t records) override {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return lose(records, Error{Code::kInternal, "the journal is closed"});
      // An empty queue takes a frame of any size: the largest is larger than the limit.
      if (!queue_.empty() && queued_bytes_ + frame.size() > kQueueBytes) {
        return lose(records, Error{Code::kIo, "the disk is too slow for the journal"});
      }
      queued_bytes_ += frame.size();
      queue_.push_back({std::move(frame), records, false});
    }
    wake_.notify_one();
  }

  Status close(std::string last_frame) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(last_frame), 0, true});
      queued_bytes_ += queue_.back().frame.size();
    }
    stop();
    if (!sealed_.ok()) return sealed_;
    return closed_;
  }

  [[nodiscard]] SinkReport report() const override {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  struct Item {
    std::string frame;
    int64_t records;
    bool last = false;
  };

  void lose(int64_t records, Error why) {
    report_.dropped_records += records;
    if (!report_.error) report_.error = std::move(why);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  void work() {
    using Clock = std::chrono::steady_clock;
    auto synced = Clock::now();
    bool dirty = false;
    std::unique_lock lock(mutex_);
    while (!stopping_ || !queue_.empty()) {
      if (queue_.empty()) {
        const auto ready = [this] { return stopping_ || !queue_.empty(); };
        if (dirty) {
          wake_.wait_until(lock, synced + kSyncEvery, ready);
        } else {
          wake_.wait(lock, ready);
        }
      }
      std::deque<Item> items = std::exchange(queue_, {});
      lock.unlock();
      dirty = append(items) || dirty;
      if (dirty && Clock::now() >= synced + kSyncEvery) {
        note(journal_.sync(), 0);
        synced = Clock::now();
        dirty = false;
      }
      lock.lock();
    }
    lock.unlock();
    closed_ = journal_.close();
  }

  bool append(const std::deque<Item>& items) {
    for (const Item& item : items) {
      Status written = journal_.append(item.frame, item.last);
      if (item.last) sealed_ = written;
      note(std::move(written), item.records);
      const std::lock_guard lock(mutex_);
      queued_bytes_ -= item.frame.size();
      report_.bytes = journal_.size_bytes();
    }
    return !items.empty();
  }

  void note(Status status, int64_t records) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    lose(records, std::move(status).error());
  }

  JournalFile journal_;  // the thread's until it has ended
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  size_t queued_bytes_ = 0;
  bool stopping_ = false;
  SinkReport report_;
  Status sealed_, closed_;  // the thread's until it has ended
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_file_sink(const std::string& where) {
  TRY_ASSIGN(JournalFile journal, JournalFile::create(where));
  return std::unique_ptr<Sink>(std::make_unique<FileSink>(std::move(journal)));
}

}  // namespace fathom
