// SPDX-License-Identifier: Apache-2.0
#include "hub/live.h"

#include <fmt/format.h>

#include "store/store.h"

namespace fathom {

LiveEvent::LiveEvent(std::string text, std::atomic<int64_t>& total, std::atomic<int64_t>& live)
    : text_(std::move(text)), total_(total), live_(live) {
  total_ += static_cast<int64_t>(text_.size());
  live_ += static_cast<int64_t>(text_.size());
}

LiveEvent::~LiveEvent() {
  total_ -= static_cast<int64_t>(text_.size());
  live_ -= static_cast<int64_t>(text_.size());
}

void Subscription::on_event(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Subscription::put(const std::shared_ptr<const LiveEvent>& event) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + event->text().size() > kMaxBytes) {
    ++lost_;
    return;
  }
  waiting_.push_back(event);
  bytes_ += event->text().size();
  if (wake_) wake_();
}

size_t Subscription::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void Subscription::lose_all() {
  const std::lock_guard lock(mutex_);
  broken_ = broken_ || taken_ > 0;
  taken_ = 0;
  lost_ += static_cast<int64_t>(waiting_.size());
  waiting_.clear();
  bytes_ = 0;
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

bool Subscription::is_broken() {
  const std::lock_guard lock(mutex_);
  return broken_;
}

std::string Subscription::take() {
  const std::lock_guard lock(mutex_);
  std::string text;
  while (!waiting_.empty() && text.size() < kMaxTakeBytes) {
    const std::string& event = waiting_.front()->text();
    const std::string_view part =
        std::string_view(event).substr(taken_, kMaxTakeBytes - text.size());
    text += part;
    taken_ += part.size();
    if (taken_ < event.size()) break;
    bytes_ -= event.size();
    taken_ = 0;
    waiting_.pop_front();
  }
  if (!waiting_.empty()) return text;  // events were lost behind those that wait
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
  std::shared_ptr<const LiveEvent> shared;  // made for the first that wants it
  for (auto place = all_.begin(); place != all_.end();) {
    const auto subscription = place->lock();
    if (!subscription) {
      place = all_.erase(place);
      continue;
    }
    if (subscription->job_ == 0 || subscription->job_ == job) {
      if (!shared) shared = make_event(removed ? "removed" : "change", event);
      subscription->put(shared);
    }
    if (removed && subscription->job_ == job) subscription->end();
    ++place;
  }
}

std::shared_ptr<const LiveEvent> Live::make_event(const char* type, const std::string& event) {
  std::string text = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", number_, type, event);
  make_space(static_cast<int64_t>(text.size()));
  return std::make_shared<const LiveEvent>(std::move(text), total_bytes_, bytes_);
}

void Live::make_space(int64_t bytes) {
  while (bytes_ > 0 && bytes_ + bytes > max_bytes_) {
    std::shared_ptr<Subscription> longest;
    size_t most = 0;
    for (const auto& weak : all_) {
      auto one = weak.lock();
      const size_t waiting = one ? one->bytes() : 0;
      if (waiting <= most) continue;
      most = waiting;
      longest = std::move(one);
    }
    if (!longest) return;  // what is left is being written
    longest->lose_all();
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
