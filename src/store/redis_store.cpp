// SPDX-License-Identifier: Apache-2.0
#include "store/redis_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "store/redis.h"
#include "store/redis_events.h"
#include "store/redis_keys.h"
#include "store/redis_scripts.h"
#include "store/redis_text.h"

namespace fathom {
namespace {

using namespace redis_keys;

constexpr const char* kFormatVersion = "1";
constexpr unsigned kLoadingPauseUs = 200'000;

// The words of one EVALSHA; owns what is not in the change itself.
class ApplyCommand {
 public:
  ApplyCommand(const Change& change, const std::string& sha) {
    words_.reserve(64 + change.sums.size() * 3);
    words_ = {"EVALSHA", sha, "10", kJobs};
    for (const char* part : kParts) add(of_job(change.job, part));
    words_.emplace_back(kLive);
    add(std::to_string(change.job));
    add(of_job(change.job, "sums:"));
    add(std::to_string(change.time_ns));
    words_.emplace_back(change.event);
    count(change.runs.size());
    for (const RunAdvance& run : change.runs) {
      words_.insert(words_.end(), {run.run, run.host});
      add(std::to_string(run.from));
      add(std::to_string(run.to));
    }
    count(change.units.size());
    for (const auto& [event, unit] : change.units) words_.insert(words_.end(), {event, unit});
    count(change.rows.size());
    for (const std::string& row : change.rows) words_.emplace_back(row);
    count(change.gauges.size());
    for (const GaugeValue& gauge : change.gauges) {
      add(sum_key(gauge.scope, gauge.name, ""));
      add(gauge_text(gauge));
    }
    count(change.marks.size());
    for (const MarkText& mark : change.marks) add(mark_text(mark));
    count(change.sums.size());
    for (const SumDelta& sum : change.sums) {
      add(bucket_of(sum.key));
      words_.emplace_back(sum.key);
      add(std::to_string(sum.delta));
    }
  }
  [[nodiscard]] const Redis::Words& words() const { return words_; }

 private:
  void add(std::string text) { words_.emplace_back(kept_.emplace_back(std::move(text))); }
  void count(size_t number) { add(std::to_string(number)); }

  std::list<std::string> kept_;
  Redis::Words words_;
};

Result<Applied> applied_of(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) return Redis::answer_error(reply);
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements == 0)
    return Error{Code::kIo, "Redis gave an answer without sense"};
  const std::string_view how = redis_text(*reply.element[0]);
  Applied answer;
  if (how == "applied") return answer;
  if (how == "nojob") {
    answer.how = Applied::How::kNoJob;
  } else if (how == "refused" && reply.elements == 3) {
    answer.how = Applied::How::kRefused;
    const SumName name = split_sum_key(redis_text(*reply.element[1]));
    answer.why = fmt::format("the sum of {} of {} would be beyond 64 bits", printable(name.event),
                             printable(name.symbol));
  } else {
    answer.how = Applied::How::kConflict;
    for (size_t i = 1; i + 1 < reply.elements; i += 2)
      answer.stands.emplace_back(redis_text(*reply.element[i]),
                                 static_cast<uint64_t>(redis_number(*reply.element[i + 1])));
  }
  return answer;
}

class RedisStore final : public Store {
 public:
  explicit RedisStore(const RedisAddress& address)
      : write_(address), read_(address), events_(address) {}

  Status open() {
    TRY(wait_while_loading());
    TRY_ASSIGN(const RedisReply made, write_.command({"SET", kVersion, kFormatVersion, "NX"}));
    TRY_ASSIGN(const RedisReply version, write_.command({"GET", kVersion}));
    if (redis_text(*version) != kFormatVersion)
      return Error{Code::kUnsupported,
                   fmt::format("the data is of version {}; this hub knows version {}",
                               printable(redis_text(*version)), kFormatVersion)};
    return load_script();
  }

  Result<Job> create_job(int64_t id, const std::string& description,
                         const std::string& labels) override {
    TRY(check_new_job(id, description));
    Job job{id, description, labels, clock_ns(CLOCK_REALTIME), 0};
    const std::string text = job_text(job);
    const std::string wanted = std::to_string(id), first = std::to_string(kFirstJob),
                      last = std::to_string(kLastJob);
    TRY_ASSIGN(const RedisReply reply,
               ask({"EVAL", kCreateScript, "1", kJobs, wanted, first, last, text}));
    job.id = redis_number(*reply);
    if (job.id != 0) return job;
    if (id == 0) return Error{Code::kNoSpace, "no job id is free", "remove jobs first"};
    return Error{Code::kExists, fmt::format("job {} exists already", id)};
  }

  Status remove_job(int64_t id) override {
    const std::vector<std::string> keys = all_of_job(id);
    const std::string count = std::to_string(keys.size() + 2), wanted = std::to_string(id);
    const std::string event = removed_event(id);
    Redis::Words words = {"EVAL", kRemoveScript, count, kJobs, kLive};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), {wanted, event});
    TRY_ASSIGN(const RedisReply reply, ask(words));
    if (redis_number(*reply) == 0) return no_such_job(id);
    return {};
  }

  Result<std::vector<Job>> jobs() override {
    TRY_ASSIGN(const RedisReply all, read({"HGETALL", kJobs}));
    std::vector<Job> jobs;
    for (size_t i = 0; i + 1 < all->elements; i += 2) {
      Job job = job_from(redis_text(*all->element[i + 1]));
      job.id = redis_number(*all->element[i]);
      TRY_ASSIGN(job.rows, row_count(job.id));
      jobs.push_back(std::move(job));
    }
    std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.id < b.id; });
    return jobs;
  }

  Result<Job> job(int64_t id) override {
    const std::string wanted = std::to_string(id);
    TRY_ASSIGN(const RedisReply found, read({"HGET", kJobs, wanted}));
    if (found->type != REDIS_REPLY_STRING) return no_such_job(id);
    Job job = job_from(redis_text(*found));
    job.id = id;
    TRY_ASSIGN(job.rows, row_count(id));
    return job;
  }

  Result<std::vector<Applied>> apply(std::span<const Change> changes) override {
    const std::lock_guard lock(write_mutex_);
    TRY_ASSIGN(auto answers, try_apply(changes));
    if (answers.has_value()) return std::move(*answers);
    TRY(load_script());  // Redis was started anew and knows no script
    TRY_ASSIGN(answers, try_apply(changes));
    if (answers.has_value()) return std::move(*answers);
    return Error{Code::kIo, "Redis forgets the script that adds sums"};
  }

  Result<uint64_t> last_sequence(int64_t job, const std::string& run) override {
    const std::string key = of_job(job, "runs");
    TRY_ASSIGN(const RedisReply reply, read({"HGET", key, run}));
    return static_cast<uint64_t>(redis_number(*reply));
  }

  Result<std::vector<RunState>> runs(int64_t job) override;
  Result<SumPage> sums(int64_t job, const std::string& from) override;

  Result<std::vector<std::string>> rows(int64_t job, int64_t from, int64_t most) override {
    const std::string key = of_job(job, "rows"), first = std::to_string(from),
                      last = std::to_string(from + most - 1);
    return texts({"LRANGE", key, first, last});
  }

  Status clear_rows(int64_t id) override {
    TRY(job(id));
    const std::string key = of_job(id, "rows");
    TRY(read({"DEL", key}));
    return {};
  }

  Result<std::vector<GaugeValue>> gauges(int64_t job) override {
    const std::string key = of_job(job, "gauges");
    TRY_ASSIGN(const auto values, texts({"HVALS", key}));
    std::vector<GaugeValue> gauges;
    gauges.reserve(values.size());
    for (const std::string& text : values) gauges.push_back(gauge_from(text));
    std::sort(gauges.begin(), gauges.end(), [](const GaugeValue& a, const GaugeValue& b) {
      return std::tie(a.scope, a.name) < std::tie(b.scope, b.name);
    });
    return gauges;
  }

  Result<std::vector<MarkText>> marks(int64_t job) override {
    const std::string key = of_job(job, "marks");
    TRY_ASSIGN(const auto values, texts({"LRANGE", key, "0", "-1"}));
    std::vector<MarkText> marks;
    marks.reserve(values.size());
    for (const std::string& text : values) marks.push_back(mark_from(text));
    return marks;
  }

  void listen(Listener listener, Notice notice) override {
    events_.start(std::move(listener), std::move(notice));
  }

  // That it answers does not say that it takes anything: it may be full, or a replica.
  Status ready() override {
    TRY(read({"SET", kReady, "1", "PX", "60000"}));
    return {};
  }

  std::vector<std::string> warnings() override;
  [[nodiscard]] int64_t sums_written() const override { return sums_written_; }

 private:
  // As long as it takes: a server with much data loads for minutes.
  Status wait_while_loading() {
    for (bool is_first = true;; is_first = false) {
      TRY_ASSIGN(const bool loads, write_.is_loading());
      if (!loads) return {};
      if (is_first) log_info("waiting for Redis, which loads its data");
      usleep(kLoadingPauseUs);
    }
  }
  Status load_script() {
    TRY_ASSIGN(const RedisReply loaded, write_.command({"SCRIPT", "LOAD", kApplyScript}));
    sha_ = redis_text(*loaded);
    return {};
  }
  // Nothing: the script must be loaded first.
  Result<std::optional<std::vector<Applied>>> try_apply(std::span<const Change> changes);
  Result<RedisReply> read(const Redis::Words& words) {
    const std::lock_guard lock(read_mutex_);
    return read_.read(words);
  }
  // What must not be done twice; a connection that was ended meanwhile is found out before.
  Result<RedisReply> ask(const Redis::Words& words) {
    const std::lock_guard lock(read_mutex_);
    TRY(read_.read({"PING"}));
    return read_.command(words);
  }
  Result<int64_t> row_count(int64_t job) {
    const std::string key = of_job(job, "rows");
    TRY_ASSIGN(const RedisReply reply, read({"LLEN", key}));
    return redis_number(*reply);
  }
  Result<std::vector<std::string>> texts(const Redis::Words& words) {
    TRY_ASSIGN(const RedisReply reply, read(words));
    std::vector<std::string> found;
    for (size_t i = 0; i < reply->elements; ++i) found.emplace_back(redis_text(*reply->element[i]));
    return found;
  }

  std::mutex write_mutex_, read_mutex_;
  Redis write_, read_;
  std::string sha_;
  std::atomic<int64_t> sums_written_{0};
  RedisEvents events_;
};

Result<std::optional<std::vector<Applied>>> RedisStore::try_apply(std::span<const Change> changes) {
  std::list<ApplyCommand> commands;
  std::vector<Redis::Words> words;
  for (const Change& change : changes) words.push_back(commands.emplace_back(change, sha_).words());
  TRY_ASSIGN(const auto replies, write_.pipeline(words));
  std::vector<Applied> answers;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (redis_text(*replies[i]).starts_with("NOSCRIPT"))
      return std::optional<std::vector<Applied>>();
    TRY_ASSIGN(Applied answer, applied_of(*replies[i]));
    if (answer.how == Applied::How::kApplied)
      sums_written_ += static_cast<int64_t>(changes[i].sums.size());
    answers.push_back(std::move(answer));
  }
  return std::optional(std::move(answers));
}

Result<std::vector<RunState>> RedisStore::runs(int64_t job) {
  std::vector<RunState> runs;
  TRY_ASSIGN(const auto sequences, texts({"HGETALL", of_job(job, "runs")}));
  for (size_t i = 0; i + 1 < sequences.size(); i += 2) {
    RunState run;
    run.run = sequences[i];
    run.sequence = static_cast<uint64_t>(parse_number(sequences[i + 1]).value_or(0));
    TRY_ASSIGN(const RedisReply host, read({"HGET", of_job(job, "hosts"), run.run}));
    TRY_ASSIGN(const RedisReply first, read({"HGET", of_job(job, "first"), run.run}));
    TRY_ASSIGN(const RedisReply last, read({"HGET", of_job(job, "last"), run.run}));
    run.host = redis_text(*host);
    run.first_ns = redis_number(*first);
    run.last_ns = redis_number(*last);
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunState& a, const RunState& b) { return a.run < b.run; });
  return runs;
}

// A page is a bucket; `from` is its number.
Result<SumPage> RedisStore::sums(int64_t job, const std::string& from) {
  const int64_t bucket = from.empty() ? 0 : parse_number(from).value_or(0);
  TRY_ASSIGN(const auto units, texts({"HGETALL", of_job(job, "units")}));
  std::unordered_map<std::string_view, std::string_view> unit_of;
  for (size_t i = 0; i + 1 < units.size(); i += 2) unit_of.emplace(units[i], units[i + 1]);
  TRY_ASSIGN(const RedisReply all,
             read({"HGETALL", of_job(job, "sums:" + std::to_string(bucket))}));
  std::vector<std::pair<std::string, int64_t>> sorted;
  for (size_t i = 0; i + 1 < all->elements; i += 2)
    sorted.emplace_back(redis_text(*all->element[i]), redis_number(*all->element[i + 1]));
  std::sort(sorted.begin(), sorted.end());
  SumPage page;
  for (const auto& [key, sum] : sorted) {
    const SumName name = split_sum_key(key);
    page.rows.push_back({std::string(name.symbol), std::string(name.program),
                         std::string(name.event), std::string(unit_of[name.event]), sum});
  }
  if (bucket + 1 < kBuckets) page.next = std::to_string(bucket + 1);
  return page;
}

std::vector<std::string> RedisStore::warnings() {
  std::vector<std::string> found;
  for (const auto& [name, wanted] :
       {std::pair("appendonly", "yes"), std::pair("appendfsync", "always")}) {
    const auto reply = read({"CONFIG", "GET", name});
    if (!reply.ok() || reply.value()->elements != 2) {
      found.push_back(
          fmt::format("Redis does not say what {} is: with anything but {} it may lose "
                      "what was acknowledged when it is killed",
                      name, wanted));
    } else if (redis_text(*reply.value()->element[1]) != wanted) {
      found.push_back(
          fmt::format("Redis has {} {}: killed, it may lose what was acknowledged; "
                      "CONFIG SET {} {}",
                      name, redis_text(*reply.value()->element[1]), name, wanted));
    }
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<Store>> open_redis_store(const std::string& address) {
  TRY_ASSIGN(const RedisAddress parsed, RedisAddress::parse(address));
  auto store = std::make_unique<RedisStore>(parsed);
  TRY(store->open());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace fathom
