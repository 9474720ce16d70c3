// SPDX-License-Identifier: Apache-2.0
#include "hub/live.h"

#include <fmt/format.h>

#include "store/store.h"

namespace fathom {

void Subscription::on_event(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Subscription::put(const char* type, const std::string& event, uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + event.size() > kMostBytes) {
    ++lost_;
    return;
  }
  waiting_.push_back(fmt::format("id: {}\nevent: {}\ndata: {}\n\n", number, type, event));
  bytes_ += waiting_.back().size();
  if (wake_) wake_();
}

void Subscription::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (wake_) wake_();
}

bool Subscription::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::string Subscription::take() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const std::string& event : waiting_) text += event;
  waiting_.clear();
  bytes_ = 0;
  if (lost_ > 0) text += fmt::format("event: lost\ndata: {{\"events\":{}}}\n\n", lost_);
  lost_ = 0;
  return text;
}

std::shared_ptr<Subscription> Live::subscribe(int64_t job) {
  auto subscription = std::make_shared<Subscription>(job);
  const std::lock_guard lock(mutex_);
  all_.push_back(subscription);
  return subscription;
}

void Live::publish(int64_t job, const std::string& event) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  ++number_;
  const bool removed = event == removed_event(job);
  for (auto place = all_.begin(); place != all_.end();) {
    const auto subscription = place->lock();
    if (!subscription) {
      place = all_.erase(place);
      continue;
    }
    if (subscription->job_ == 0 || subscription->job_ == job)
      subscription->put(removed ? "removed" : "change", event, number_);
    if (removed && subscription->job_ == job) subscription->end();
    ++place;
  }
}

void Live::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

size_t Live::watchers() {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const auto& weak) { return weak.expired(); });
  return all_.size();
}

}  // namespace fathom
