// SPDX-License-Identifier: Apache-2.0
#include "hub/legacy_protocol.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <random>

#include "base/clock.h"
#include "base/simdjson.h"
#include "base/text.h"
#include "hub/perf_script_line.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kAck = "ack";
constexpr std::string_view kSkipped = " \t\r\n";

// The numbers on the wire.
constexpr int64_t kSendPerfData = 1, kSendBenchmarkData = 2;

// What a controller sends; an absent or null value is an empty text.
struct ControllerCommand {
  Hub& hub;
  std::string info, job_text;
  int64_t job = 0;  // 0: not a valid job id
};

using More = std::function<Result<std::string>()>;

More text_once(std::string text) {
  // Shared, because a std::function is copied.
  return [left = std::make_shared<std::string>(std::move(text))]() -> Result<std::string> {
    return std::exchange(*left, {});
  };
}

More job_state(const ControllerCommand& command, std::string_view state) {
  return text_once(fmt::format("[JOB {}] {}", command.job_text, state));
}

More not_in_use(const ControllerCommand& command) { return job_state(command, "is NOT in use"); }

std::string job_line(const Job& job) {
  return fmt::format("JOBID: {}\t Info: {}\t Number of benchmark data: {}\n", job.id,
                     job.description, job.rows);
}

Result<More> create(const ControllerCommand& command) {
  if (command.job < kFirstJob || command.job > kLastJob)
    return text_once(fmt::format("Please choose from {} to {} as jobID", kFirstJob, kLastJob));
  const auto made = command.hub.store().create_job(command.job, command.info, "{}");
  if (made.ok()) return job_state(command, "is created ...");
  if (made.error().code == Code::kExists) return job_state(command, "is in use ...\n");
  return made.error();
}

Result<More> remove(const ControllerCommand& command) {
  TRY(command.hub.store().remove_job(command.job));
  command.hub.committer().forget(command.job);
  return job_state(command, "Remove successfully!");
}

Result<More> list(const ControllerCommand& command) {
  TRY_ASSIGN(const auto jobs, command.hub.store().jobs());
  std::string text;
  for (const Job& job : jobs) text += job_line(job);
  return text_once(std::move(text));
}

Result<More> show_info(const ControllerCommand& command) {
  TRY_ASSIGN(const Job job, command.hub.store().job(command.job));
  return text_once(job_line(job));
}

Result<More> show_benchmark(const ControllerCommand& command) {
  TRY(command.hub.store().job(command.job));
  return row_pages(command.hub, command.job);
}

Result<More> show_profiling(const ControllerCommand& command) {
  TRY(command.hub.store().job(command.job));
  return profile_pages(command.hub, command.job, ProfileForm::kLines);
}

Result<More> clear_benchmark(const ControllerCommand& command) {
  TRY(command.hub.store().clear_rows(command.job));
  return job_state(command, "Clear successfully!");
}

struct CommandLine {
  int64_t number;
  Result<More> (*work)(const ControllerCommand& command);
};

// One line per command of a controller.
constexpr std::array kCommands = {CommandLine{3, create},         CommandLine{4, remove},
                                  CommandLine{5, list},           CommandLine{6, show_info},
                                  CommandLine{7, show_benchmark}, CommandLine{8, show_profiling},
                                  CommandLine{9, clear_benchmark}};

std::string text_in(const dom::object& object, const char* key) {
  std::string_view text;
  int64_t number = 0;
  if (object[key].get(number) == simdjson::SUCCESS) return std::to_string(number);
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\0', ' ');
  return plain;
}

Status add_perf_line(std::string_view line, Contribution& out) {
  const std::string_view first =
      line.substr(std::min(line.find_first_not_of(kSkipped), line.size()));
  if (first.empty() || first.front() == '#') return {};  // blank and comment lines of perf script
  const auto sample = parse_perf_script_line(line);
  if (!sample)
    return Error{Code::kInvalid,
                 "cannot parse line of perf script: '" + printable(line.substr(0, 100)) + "'"};
  TRY(out.add_sum(without_offset(sample->symbol), sample->program, sample->event, sample->count));
  ++out.updates;
  return {};
}

// perf stat prints counts with thousands separators, and "<not counted>" for what has no value.
Result<int64_t> perf_count(const dom::element& value) {
  int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "a count must be a number or a text"};
  std::string digits(text);
  std::erase(digits, ',');
  return parse_number(digits);
}

Status add_row(std::string_view json, const RowOrigin& origin, Contribution& out) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"message\" must be a JSON object in a string"};
  RowBuilder row;
  for (const dom::key_value_pair field : object) {
    if (field.key == "time") {
      double seconds = 0;
      std::string_view text;
      if (field.value.get(seconds) != simdjson::SUCCESS) {
        if (field.value.get(text) != simdjson::SUCCESS) text = {};
        TRY_ASSIGN(seconds, parse_real(text));
      }
      TRY(row.add_time(seconds));
    } else if (const auto count = perf_count(field.value); count.ok()) {
      TRY(row.add_count(field.key, count.value()));
    }
  }
  if (row.empty()) return Error{Code::kInvalid, "a benchmark row without values"};
  out.rows.push_back(row.json(origin));
  ++out.updates;
  return {};
}

std::string new_run_name() {
  std::random_device random;
  return fmt::format("legacy-{:08x}{:08x}{:08x}", random(), random(), random());
}

}  // namespace

struct LegacySession::Parsed {
  dom::parser parser;
  dom::object object;
  int64_t command = 0;

  Status read(const std::string& message) {
    TRY(load_simdjson());
    if (parser.parse(message).get(object) != simdjson::SUCCESS)
      return Error{Code::kInvalid, "malformed JSON"};
    if (object["command"].get(command) != simdjson::SUCCESS)
      return Error{Code::kInvalid, "\"command\" must be an integer from 1 to 9"};
    return {};
  }
  [[nodiscard]] bool is_data() const {
    return command == kSendPerfData || command == kSendBenchmarkData;
  }
  // Data messages carry the job in "port".
  [[nodiscard]] int64_t job() const {
    return parse_number(text_in(object, is_data() ? "port" : "jobid")).value_or(0);
  }
};

void LegacyFramer::append(std::string_view bytes) {
  bytes_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  bytes_ += bytes;
}

// Up to the first byte of an object, over white space and repeated acknowledgments: a client that
// received a part in two pieces acknowledges it twice. False: more bytes are needed.
Result<bool> LegacyFramer::find_start() {
  while (true) {
    begin_ = std::min(bytes_.find_first_not_of(kSkipped, begin_), bytes_.size());
    scanned_ = begin_;
    const std::string_view rest = std::string_view(bytes_).substr(begin_);
    if (rest.starts_with('{')) return true;
    if (rest.size() < kAck.size() && kAck.starts_with(rest)) return false;
    if (!rest.starts_with(kAck)) return Error{Code::kInvalid, "a message must be a JSON object"};
    begin_ += kAck.size();
  }
}

Result<std::optional<std::string>> LegacyFramer::next() {
  if (scanned_ == begin_) {
    TRY_ASSIGN(const bool found, find_start());
    if (!found) return std::optional<std::string>();
  }
  for (; scanned_ < bytes_.size(); ++scanned_) {
    const char byte = bytes_[scanned_];
    if (in_string_) {
      in_string_ = escaped_ || byte != '"';
      escaped_ = !escaped_ && byte == '\\';
      continue;
    }
    in_string_ = byte == '"';
    depth_ += byte == '{' ? 1 : byte == '}' ? -1 : 0;
    if (depth_ > 0) continue;
    std::string message = bytes_.substr(begin_, scanned_ + 1 - begin_);
    begin_ = ++scanned_;
    return std::optional(std::move(message));
  }
  if (size() <= kMaxMessageBytes) return std::optional<std::string>();
  return Error{Code::kInvalid, fmt::format("a message exceeds {}", format_bytes(kMaxMessageBytes))};
}

Result<bool> LegacyFramer::take_ack() {
  const std::string_view start = std::string_view(bytes_).substr(begin_, kAck.size());
  if (!kAck.starts_with(start)) return Error{Code::kInvalid, "expected 'ack'"};
  if (start.size() < kAck.size()) return false;
  begin_ += kAck.size();
  scanned_ = begin_;
  return true;
}

LegacySession::LegacySession(Hub& hub, std::string peer)
    : hub_(hub), peer_(std::move(peer)), run_(new_run_name()) {}

Outcome LegacySession::commit(int64_t job, Contribution data) {
  std::promise<Outcome> promise;
  auto applied = promise.get_future();
  const auto last = sequences_.find(job);
  const uint64_t sequence = last == sequences_.end() ? 1 : last->second + 1;
  Incoming incoming{job, run_, peer_, sequence, std::move(data), {}};
  incoming.done = [&promise](Outcome outcome) { promise.set_value(std::move(outcome)); };
  hub_.committer().submit(std::move(incoming));
  Outcome outcome = applied.get();
  if (outcome.how == Outcome::How::kApplied) sequences_[job] = sequence;
  return outcome;
}

LegacyReply LegacySession::store_data(std::span<const std::string> messages) {
  LegacyReply reply;
  Contribution data;
  int64_t job = 0;
  std::string rejected;
  for (const std::string& message : messages) {
    Parsed parsed;
    Status added = parsed.read(message);
    const bool follows = reply.taken > 0;
    if (follows && (!added.ok() || !parsed.is_data() || parsed.job() != job)) break;
    job = parsed.job();
    const std::string text = text_in(parsed.object, "message");
    const RowOrigin origin{run_, peer_, clock_ns(CLOCK_REALTIME)};
    if (added.ok())
      added =
          parsed.command == kSendPerfData ? add_perf_line(text, data) : add_row(text, origin, data);
    ++reply.taken;
    if (added.ok()) continue;
    rejected = added.error().message;
    break;
  }
  const size_t accepted = reply.taken - (rejected.empty() ? 0 : 1);
  if (accepted > 0) {
    const Outcome outcome = commit(job, std::move(data));
    if (outcome.how == Outcome::How::kNoJob) rejected = fmt::format("Cannot find Job {}!", job);
    if (outcome.how != Outcome::How::kApplied && rejected.empty()) rejected = outcome.why;
    if (outcome.how == Outcome::How::kApplied)
      for (size_t i = 0; i < accepted; ++i) reply.bytes += kAck;
  }
  reply.bytes += rejected;
  return reply;
}

LegacyReply LegacySession::execute(std::span<const std::string> messages) {
  Parsed parsed;
  if (const auto read = parsed.read(messages.front()); !read.ok())
    return {1, read.error().message, {}};
  if (parsed.is_data()) return store_data(messages);
  const auto line = std::find_if(kCommands.begin(), kCommands.end(), [&](const CommandLine& one) {
    return one.number == parsed.command;
  });
  if (line == kCommands.end())
    return {1, fmt::format("unknown command {}: there are 1 to 9", parsed.command), {}};
  const ControllerCommand command{hub_, text_in(parsed.object, "info"),
                                  text_in(parsed.object, "jobid"), parsed.job()};
  auto more = line->work(command);
  LegacyReply reply{1, std::string(kAck), {}};
  if (more.ok())
    reply.more = std::move(more).value();
  else if (more.error().code == Code::kNotFound)
    reply.more = not_in_use(command);
  else
    reply.more = text_once(more.error().message + "\n");
  return reply;
}

}  // namespace fathom
