// SPDX-License-Identifier: Apache-2.0
// Who watches: a Subscription is a bounded queue of events of one job, or of all. Whoever reads too
// slowly loses events and is told how many. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom {

class Subscription {
 public:
  explicit Subscription(int64_t job) : job_(job) {}

  // Called after something came, on the thread that brought it; must not block. Empty: nobody.
  void on_event(std::function<void()> wake);
  // All that has come, as server-sent events.
  std::string take();
  // The job was removed: after what take() returns next, no event follows.
  [[nodiscard]] bool has_ended();

 private:
  friend class Live;
  void put(const char* type, const std::string& event, uint64_t number);
  void end();

  static constexpr size_t kMostBytes = 1 << 20;
  const int64_t job_;  // 0: all
  std::mutex mutex_;
  std::deque<std::string> waiting_;
  size_t bytes_ = 0;
  int64_t lost_ = 0;
  bool ended_ = false;
  std::function<void()> wake_;
};

class Live {
 public:
  std::shared_ptr<Subscription> subscribe(int64_t job);
  void publish(int64_t job, const std::string& event);
  [[nodiscard]] size_t watchers();
  // Nothing is published, and nobody is woken, after this.
  void close();

 private:
  std::mutex mutex_;
  std::list<std::weak_ptr<Subscription>> all_;
  uint64_t number_ = 0;
  bool closed_ = false;
};

}  // namespace fathom
