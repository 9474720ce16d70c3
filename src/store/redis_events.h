// SPDX-License-Identifier: Apache-2.0
// Follows the stream of events that all hubs on one Redis write, on a thread of its own, from the
// moment it is started. A broken connection is made anew and nothing is missed but what the stream
// no longer holds.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "store/redis.h"
#include "store/store.h"

namespace fathom {

class RedisEvents {
 public:
  explicit RedisEvents(const RedisAddress& address) : redis_(address) {}
  ~RedisEvents();
  RedisEvents(const RedisEvents&) = delete;
  RedisEvents& operator=(const RedisEvents&) = delete;

  void start(Store::Listener listener, Store::Notice notice);

 private:
  void follow();
  void take(const redisReply& streams);
  void find_end();
  void wait_a_little();

  Redis redis_;
  std::string last_;  // id of the last entry seen; empty: not known yet
  Store::Listener listener_;
  Store::Notice notice_;
  bool is_lost_ = false;  // the thread's
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace fathom
