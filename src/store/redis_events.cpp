// SPDX-License-Identifier: Apache-2.0
#include "store/redis_events.h"

#include <signal.h>

#include "store/redis_keys.h"

namespace fathom {

RedisEvents::~RedisEvents() {
  stop_ = true;
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RedisEvents::start(Store::Listener listener, Store::Notice notice) {
  listener_ = std::move(listener);
  notice_ = std::move(notice);
  find_end();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { follow(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RedisEvents::find_end() {
  const auto newest = redis_.command({"XREVRANGE", redis_keys::kLive, "+", "-", "COUNT", "1"});
  if (!newest.ok()) return;
  const redisReply& list = *newest.value();
  last_ = list.elements > 0 && list.element[0]->elements > 0
              ? redis_text(*list.element[0]->element[0])
              : "0-0";
}

void RedisEvents::wait_a_little() {
  for (int part = 0; part < 10 && !stop_; ++part) {
    const timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
  }
}

void RedisEvents::follow() {
  while (!stop_) {
    if (last_.empty()) find_end();
    // Blocks for no longer than an end may take.
    const auto reply = redis_.command({"XREAD", "COUNT", "100", "BLOCK", "200", "STREAMS",
                                       redis_keys::kLive, last_.empty() ? "$" : last_});
    if (reply.ok() == is_lost_) {
      is_lost_ = !is_lost_;
      if (notice_) notice_(is_lost_ ? &reply.error() : nullptr);
    }
    if (!reply.ok()) {
      wait_a_little();
    } else if (reply.value()->type == REDIS_REPLY_ARRAY) {
      take(*reply.value());
    }
  }
}

void RedisEvents::take(const redisReply& streams) {
  for (size_t s = 0; s < streams.elements; ++s) {
    if (streams.element[s]->elements != 2) continue;
    const redisReply& entries = *streams.element[s]->element[1];
    for (size_t i = 0; i < entries.elements; ++i) {
      const redisReply& entry = *entries.element[i];
      if (entry.elements != 2) continue;
      last_ = redis_text(*entry.element[0]);
      const redisReply& fields = *entry.element[1];
      if (fields.elements == 4)
        listener_(redis_number(*fields.element[1]), std::string(redis_text(*fields.element[3])));
    }
  }
}

}  // namespace fathom
