// SPDX-License-Identifier: Apache-2.0
#include "hub/committer.h"

#include <fmt/format.h>
#include <signal.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "base/clock.h"
#include "hub/live_event.h"

namespace fathom {
namespace {

constexpr size_t kMostSums = 100'000;  // of one change: it holds up whoever shares the store
constexpr size_t kLargeSums = 20'000;  // of a batch that small ones need not wait for
constexpr size_t kMostKnownRuns = 200'000;
constexpr size_t kMostRunsInChange = 10'000;
// A failure older than this says nothing about the store any more.
constexpr int64_t kTroubleNs = 15 * kNsPerSecond;

bool is_large(const Incoming& incoming) { return incoming.data.sums.size() > kLargeSums; }

Outcome refused_alone(uint64_t acknowledged) {
  return {Outcome::How::kRefused, acknowledged, "the sums of one batch are beyond 64 bits"};
}

}  // namespace

// A change in the making, and whose it is.
struct Committer::Draft {
  struct KeyHash {
    size_t operator()(std::string_view key) const { return XXH3_64bits(key.data(), key.size()); }
  };
  Change change;
  Work members;
  // Key -> place in change.sums. The keys are those of the members' contributions, which stay where
  // they are as long as the draft does.
  std::unordered_map<std::string_view, size_t, KeyHash> sums;
  std::map<std::string, size_t> runs;  // -> place in change.runs
  int64_t updates = 0;
  bool full = false;
  Work apart;                   // beyond 64 bits together with the members
  std::set<std::string> later;  // their runs, of which nothing else is taken before them

  enum class Fit { kTaken, kLater, kApart, kNever };
  // kNever: its sums alone are beyond 64 bits.
  Fit take(const Contribution& data) {
    const size_t before = change.sums.size();
    if ((before + data.sums.size() > kMostSums || runs.size() >= kMostRunsInChange) &&
        !members.empty())
      return Fit::kLater;
    for (size_t i = 0; i < data.sums.size(); ++i) {
      const auto [found, is_new] = sums.emplace(data.sums[i].key, change.sums.size());
      if (is_new) {
        change.sums.push_back(data.sums[i]);
        continue;
      }
      int64_t& total = change.sums[found->second].delta;
      int64_t sum = 0;
      if (__builtin_add_overflow(total, data.sums[i].delta, &sum) || sum == INT64_MIN) {
        undo(data, i, before);
        return members.empty() ? Fit::kNever : Fit::kApart;
      }
      total = sum;
    }
    change.units.insert(change.units.end(), data.units.begin(), data.units.end());
    change.rows.insert(change.rows.end(), data.rows.begin(), data.rows.end());
    change.gauges.insert(change.gauges.end(), data.gauges.begin(), data.gauges.end());
    change.marks.insert(change.marks.end(), data.marks.begin(), data.marks.end());
    updates += data.updates;
    return Fit::kTaken;
  }
  // Takes the first `count` sums of `data` out again; there were `before` then.
  void undo(const Contribution& data, size_t count, size_t before) {
    for (size_t i = 0; i < count; ++i) {
      const size_t place = sums.at(data.sums[i].key);
      if (place < before) change.sums[place].delta -= data.sums[i].delta;
    }
    for (size_t place = before; place < change.sums.size(); ++place)
      sums.erase(change.sums[place].key);
    change.sums.resize(before);
  }
  void advance(const Incoming& incoming) {
    const auto [found, is_new] = runs.emplace(incoming.run, change.runs.size());
    if (is_new)
      change.runs.push_back(
          {incoming.run, incoming.host, incoming.sequence - 1, incoming.sequence});
    else
      change.runs[found->second].to = incoming.sequence;
  }
  void complete(int64_t job) {
    std::sort(change.units.begin(), change.units.end());
    change.units.erase(std::unique(change.units.begin(), change.units.end()), change.units.end());
    change.job = job;
    change.time_ns = clock_ns(CLOCK_REALTIME);
    change.event = live_event(change, updates);
  }
};

Committer::Committer(Store& store, int64_t patience_ns) : store_(store), patience_ns_(patience_ns) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Committer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  came_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Committer::submit(Incoming incoming) {
  ++counts_.waiting;
  std::unique_lock lock(mutex_);
  if (stop_) {
    lock.unlock();
    return finish(incoming, {Outcome::How::kUnavailable, 0, "the hub is ending"});
  }
  queue_.push_back(std::move(incoming));
  lock.unlock();
  came_.notify_one();
}

void Committer::forget(int64_t job) {
  const std::lock_guard lock(mutex_);
  forget_.push_back(job);
}

void Committer::serve() {
  Work work;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [&] { return stop_ || !queue_.empty() || !work.empty(); });
      if (queue_.empty() && work.empty()) return;
      std::move(queue_.begin(), queue_.end(), std::back_inserter(work));
      queue_.clear();
      for (const int64_t job : forget_)
        std::erase_if(known_, [job](const auto& entry) { return entry.first.first == job; });
      forget_.clear();
    }
    if (known_.size() > kMostKnownRuns) known_.clear();
    bring_in(work);
  }
}

void Committer::finish(Incoming& incoming, Outcome outcome) {
  --counts_.waiting;
  if (outcome.how != Outcome::How::kApplied) ++counts_.refused;
  incoming.done(std::move(outcome));
}

void Committer::fail(Incoming& incoming, const Error& error) {
  const bool is_full = error.code == Code::kNoSpace;
  finish(incoming, {is_full ? Outcome::How::kFull : Outcome::How::kUnavailable, 0, error.message});
}

void Committer::note(const Error* failure) {
  const std::lock_guard lock(trouble_mutex_);
  trouble_ = failure != nullptr ? std::optional(*failure) : std::nullopt;
  trouble_ns_ = monotonic_ns();
}

std::optional<Error> Committer::trouble(int64_t now_ns) const {
  const std::lock_guard lock(trouble_mutex_);
  return trouble_ && now_ns - trouble_ns_ < kTroubleNs ? trouble_ : std::nullopt;
}

Result<uint64_t> Committer::stands_at(const RunKey& key, bool ask_store) {
  const auto found = known_.find(key);
  if (found != known_.end() && !ask_store) return found->second;
  const int64_t give_up_ns = monotonic_ns() + patience_ns_;
  for (int attempt = 0;;) {
    auto stands = store_.last_sequence(key.first, key.second);
    if (stands.ok()) {
      known_[key] = stands.value();
      return stands;
    }
    note(&stands.error());
    if (stands.error().code == Code::kNoSpace || !wait_to_retry(give_up_ns, attempt)) return stands;
  }
}

// True: it is in a draft, or answered. False: not now.
bool Committer::place(Incoming& incoming, std::map<int64_t, Draft>& drafts, Work& later) {
  Draft& draft = drafts[incoming.job];
  if (draft.later.contains(incoming.run) || defer(incoming, draft)) return false;
  const RunKey key(incoming.job, incoming.run);
  const auto pending = draft.runs.find(incoming.run);
  uint64_t stands = 0;
  // Of a guess only "the next one" is believed; the store confirms that by itself.
  for (const bool ask_store : {false, true}) {
    if (pending != draft.runs.end()) {
      stands = draft.change.runs[pending->second].to;
    } else {
      auto known = stands_at(key, ask_store);
      if (!known.ok()) {
        fail(incoming, known.error());
        return true;
      }
      stands = known.value();
    }
    if (incoming.sequence == stands + 1) break;
  }
  if (incoming.sequence == stands + 1) {
    const Draft::Fit fit = draft.full ? Draft::Fit::kLater : draft.take(incoming.data);
    if (fit == Draft::Fit::kNever) finish(incoming, refused_alone(stands));
    draft.full = draft.full || fit == Draft::Fit::kLater;
    if (fit == Draft::Fit::kApart) {
      draft.later.insert(incoming.run);
      draft.apart.push_back(std::move(incoming));
      return true;
    }
    if (fit != Draft::Fit::kTaken) return fit == Draft::Fit::kNever;
    draft.advance(incoming);
    draft.members.push_back(std::move(incoming));
    return true;
  }
  if (pending != draft.runs.end()) {  // it depends on what is being applied
    later.push_back(std::move(incoming));
    return true;
  }
  if (incoming.sequence <= stands) {
    ++counts_.duplicates;
    finish(incoming, {Outcome::How::kApplied, stands, {}});
  } else {
    finish(incoming, {Outcome::How::kGap, stands,
                      fmt::format("sequence {} leaves a gap: {} was the last one that came",
                                  incoming.sequence, stands)});
  }
  return true;
}

bool Committer::defer(const Incoming& incoming, Draft& draft) {
  if (!defers_large_ || !is_large(incoming)) return false;
  draft.later.insert(incoming.run);
  return true;
}

std::map<int64_t, Committer::Draft> Committer::draft(Work& work) {
  // Every second step is for small batches only, if there are any.
  defers_large_ = !defers_large_ && !std::all_of(work.begin(), work.end(), is_large);
  std::map<int64_t, Draft> drafts;
  Work later;
  while (!work.empty()) {
    Incoming incoming = std::move(work.front());
    work.pop_front();
    if (!place(incoming, drafts, later)) later.push_back(std::move(incoming));
  }
  work = std::move(later);
  std::erase_if(drafts, [](const auto& entry) { return entry.second.members.empty(); });
  for (auto& [job, draft] : drafts) draft.complete(job);
  return drafts;
}

bool Committer::wait_to_retry(int64_t give_up_ns, int& attempt) {
  ++counts_.retries;
  std::unique_lock lock(mutex_);
  const int64_t pause_ns =
      std::min<int64_t>(kNsPerSecond, (int64_t{20} * kNsPerMs) << std::min(attempt++, 6));
  if (stop_ || monotonic_ns() + pause_ns > give_up_ns) return false;
  came_.wait_for(lock, std::chrono::nanoseconds(pause_ns), [this] { return stop_; });
  return !stop_;
}

Result<std::vector<Applied>> Committer::apply_with_patience(std::span<const Change> changes) {
  const int64_t give_up_ns = monotonic_ns() + patience_ns_;
  for (int attempt = 0;;) {
    auto answers = store_.apply(changes);
    note(answers.ok() ? nullptr : &answers.error());
    if (answers.ok() || answers.error().code == Code::kNoSpace) return answers;
    if (!wait_to_retry(give_up_ns, attempt)) return answers;
  }
}

void Committer::settle(Draft& draft, const Applied& answer, Work& again) {
  const auto answer_all = [&](Outcome::How how, const std::string& why) {
    for (Incoming& member : draft.members) {
      const auto known = known_.find(RunKey(member.job, member.run));
      finish(member, {how, known == known_.end() ? 0 : known->second, why});
    }
  };
  const int64_t job = draft.change.job;
  switch (answer.how) {
    case Applied::How::kApplied:
      for (const RunAdvance& run : draft.change.runs) known_[RunKey(job, run.run)] = run.to;
      counts_.batches += static_cast<int64_t>(draft.members.size());
      counts_.updates += draft.updates;
      answer_all(Outcome::How::kApplied, {});
      return;
    case Applied::How::kNoJob:
      for (const RunAdvance& run : draft.change.runs) known_.erase(RunKey(job, run.run));
      answer_all(Outcome::How::kNoJob, no_such_job(job).message);
      return;
    case Applied::How::kRefused:
      if (draft.members.size() == 1) {
        answer_all(Outcome::How::kRefused, answer.why);
        return;
      }
      apply_halves(draft, again);
      return;
    case Applied::How::kConflict:
      for (const auto& [run, stands] : answer.stands) known_[RunKey(job, run)] = stands;
      break;
  }
  std::move(draft.members.begin(), draft.members.end(), std::back_inserter(again));
}

// Applies batches of one job as a change of their own.
void Committer::apply_apart(int64_t job, Work members, Work& again) {
  Draft draft;
  for (Incoming& incoming : members) {
    const Draft::Fit fit = draft.take(incoming.data);
    if (fit == Draft::Fit::kNever) {
      finish(incoming, refused_alone(incoming.sequence - 1));
      continue;
    }
    if (fit == Draft::Fit::kTaken) draft.advance(incoming);
    (fit == Draft::Fit::kTaken ? draft.members : again).push_back(std::move(incoming));
  }
  if (draft.members.empty()) return;
  draft.complete(job);
  const auto answers = apply_with_patience({&draft.change, 1});
  if (answers.ok())
    settle(draft, answers.value()[0], again);
  else
    for (Incoming& member : draft.members) fail(member, answers.error());
}

// Finds the batches of a refused change whose sums are beyond 64 bits, in as many steps per batch
// as its number of members has binary digits.
void Committer::apply_halves(Draft& refused, Work& again) {
  const auto middle = refused.members.begin() + static_cast<ptrdiff_t>(refused.members.size() / 2);
  Work first(std::make_move_iterator(refused.members.begin()), std::make_move_iterator(middle));
  Work second(std::make_move_iterator(middle), std::make_move_iterator(refused.members.end()));
  apply_apart(refused.change.job, std::move(first), again);
  apply_apart(refused.change.job, std::move(second), again);
}

void Committer::bring_in(Work& work) {
  auto drafts = draft(work);
  if (drafts.empty()) return;
  std::vector<Change> changes;
  changes.reserve(drafts.size());
  for (auto& [job, draft] : drafts) changes.push_back(std::move(draft.change));
  auto answers = apply_with_patience(changes);
  size_t place = 0;
  Work again;
  for (auto& [job, draft] : drafts) {
    draft.change = std::move(changes[place]);
    if (answers.ok())
      settle(draft, answers.value()[place], again);
    else
      for (Incoming& member : draft.members) fail(member, answers.error());
    ++place;
    for (Incoming& incoming : draft.apart) {
      Work alone;
      alone.push_back(std::move(incoming));
      apply_apart(job, std::move(alone), again);
    }
  }
  ++counts_.commits;
  // What waits was sent after these.
  std::move(work.begin(), work.end(), std::back_inserter(again));
  work = std::move(again);
}

}  // namespace fathom
