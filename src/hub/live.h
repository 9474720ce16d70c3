// SPDX-License-Identifier: Apache-2.0
// Bounded event queues for one job or all jobs. A slow reader loses events and receives the number
// lost. Thread-safe.
//
// Queues share their events, and all events together have a limit. Where it is reached, the longest
// queue loses what it holds, so that a peer that never reads takes nothing from others. A stream
// that would then continue inside of an event ends instead.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom {

// The text of one event. Counts its bytes in `total` while it exists.
class LiveEvent {
 public:
  LiveEvent(std::string text, std::atomic<int64_t>& total, std::atomic<int64_t>& live);
  ~LiveEvent();
  LiveEvent(const LiveEvent&) = delete;
  LiveEvent& operator=(const LiveEvent&) = delete;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const std::string text_;
  std::atomic<int64_t>&total_, &live_;
};

class Subscription {
 public:
  explicit Subscription(int64_t job) : job_(job) {}

  // Called after something came, on the thread that brought it; must not block. Empty: nobody.
  void on_event(std::function<void()> wake);
  // The next events, as server-sent events: at most kMaxTakeBytes of them, and a part of one where
  // it is longer.
  std::string take();
  // The job was removed: after what take() returns next, no event follows.
  [[nodiscard]] bool has_ended();
  // The rest of an event of which a part was taken is lost.
  [[nodiscard]] bool is_broken();

 private:
  friend class Live;
  void put(const std::shared_ptr<const LiveEvent>& event);
  void end();
  size_t bytes();
  void lose_all();

  static constexpr size_t kMaxBytes = 1 << 20, kMaxTakeBytes = 16 << 10;
  const int64_t job_;  // 0: all
  std::mutex mutex_;
  std::deque<std::shared_ptr<const LiveEvent>> waiting_;
  size_t bytes_ = 0;
  size_t taken_ = 0;  // of the first event
  int64_t lost_ = 0;
  bool broken_ = false;
  bool ended_ = false;
  std::function<void()> wake_;
};

class Live {
 public:
  // `total_bytes`: the bytes of events are added to it while they wait.
  explicit Live(std::atomic<int64_t>& total_bytes) : total_bytes_(total_bytes) {}
  void set_max_bytes(size_t max_bytes) { max_bytes_ = static_cast<int64_t>(max_bytes); }
  std::shared_ptr<Subscription> subscribe(int64_t job);
  void publish(int64_t job, const std::string& event);
  [[nodiscard]] size_t watchers();
  // Nothing is published, and nobody is woken, after this.
  void close();

 private:
  std::shared_ptr<const LiveEvent> make_event(const char* type, const std::string& event);
  // Until there is space for `bytes` more, or nothing waits.
  void make_space(int64_t bytes);

  std::atomic<int64_t>& total_bytes_;
  std::atomic<int64_t> bytes_{0};  // of all events that wait
  int64_t max_bytes_ = int64_t{32} << 20;
  std::mutex mutex_;
  std::list<std::weak_ptr<Subscription>> all_;
  uint64_t number_ = 0;
  bool closed_ = false;
};

}  // namespace fathom
