// SPDX-License-Identifier: Apache-2.0
// Commands as messages, for clients in the manner of seed 001: {"command":"CREATE","jobid":2001,…}.
// A new one is a line in kCommandEntries. What messages add is applied at the end, in one batch.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <future>
#include <optional>

#include "base/simdjson.h"
#include "base/text.h"
#include "hub/ingest.h"
#include "hub/lines_dom.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

// A request's messages as they are worked through.
struct Desk {
  Hub& hub;
  Sender sender;
  Contribution data;
  bool has_data = false;
};

struct Message {
  const dom::object& object;
  int64_t job = 0;  // 0: none was named
  bool flat_row = false;
};

// The first message that was refused, by its number from 1.
struct Refusal {
  size_t number = 0;
  std::string command;
  Error error;
};

std::string text_field(const dom::object& object, const char* key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\0', ' ');
  return plain;
}

Result<std::string> create(Desk& desk, const Message& message) {
  TRY_ASSIGN(const Job job,
             desk.hub.store().create_job(message.job, text_field(message.object, "info"), "{}"));
  return job_json(job);
}

Result<std::string> remove(Desk& desk, const Message& message) {
  TRY(desk.hub.store().remove_job(message.job));
  desk.hub.committer().forget(message.job);
  return fmt::format("{{\"removed\":{}}}", message.job);
}

Result<std::string> list(Desk& desk, const Message& /*message*/) {
  TRY_ASSIGN(const auto jobs, desk.hub.store().jobs());
  std::vector<std::string> items;
  items.reserve(jobs.size());
  for (const Job& job : jobs) items.push_back(job_json(job));
  return fmt::format("[{}]", fmt::join(items, ","));
}

Result<std::string> show_info(Desk& desk, const Message& message) {
  TRY_ASSIGN(const Job job, desk.hub.store().job(message.job));
  return job_json(job);
}

Result<std::string> clear_benchmark(Desk& desk, const Message& message) {
  TRY(desk.hub.store().clear_rows(message.job));
  return fmt::format("{{\"cleared\":{}}}", message.job);
}

// The dumps are long and have routes of their own that stream.
Result<std::string> say_where(Desk& desk, const Message& message, const char* what) {
  TRY(desk.hub.store().job(message.job));
  return fmt::format("{{\"get\":\"/api/v1/jobs/{}/{}\"}}", message.job, what);
}
Result<std::string> show_benchmark(Desk& desk, const Message& message) {
  return say_where(desk, message, "rows");
}
Result<std::string> show_profiling(Desk& desk, const Message& message) {
  return say_where(desk, message, "profile");
}

Result<std::string> add_data(Desk& desk, const Message& message) {
  if (desk.has_data && desk.sender.job != message.job)
    return Error{Code::kInvalid, "data of one request goes to one job"};
  if (!desk.has_data) TRY(desk.hub.store().job(message.job));
  TRY(message.flat_row ? take_row(message.object, desk.sender.origin, desk.data)
                       : take_object(message.object, desk.sender.origin, desk.data));
  desk.sender.job = message.job;
  desk.has_data = true;
  return std::string("{\"taken\":true}");
}

// The seed's rows stand beside the command; ours may stand inside "benchmark".
Result<std::string> add_row(Desk& desk, const Message& message) {
  Message flat = message;
  flat.flat_row = message.object["benchmark"].error() != simdjson::SUCCESS;
  return add_data(desk, flat);
}

struct CommandEntry {
  const char* name;
  bool needs_job;
  Result<std::string> (*work)(Desk& desk, const Message& message);
};

// One line a command.
constexpr std::array kCommandEntries = {
    CommandEntry{"CREATE", false, create},
    CommandEntry{"REMOVE", true, remove},
    CommandEntry{"LIST", false, list},
    CommandEntry{"SHOW_JOB_INFO", true, show_info},
    CommandEntry{"SHOW_JOB_BENCHMARK", true, show_benchmark},
    CommandEntry{"SHOW_JOB_PROFILING", true, show_profiling},
    CommandEntry{"CLEAR_JOB_BENCHMARK", true, clear_benchmark},
    CommandEntry{"PROFILING", true, add_data},
    CommandEntry{"BENCHMARK", true, add_row},
    CommandEntry{"GAUGE", true, add_data},
    CommandEntry{"MARK", true, add_data},
};

Result<std::string> obey(Desk& desk, const dom::element& element) {
  dom::object object;
  std::string_view name;
  if (element.get(object) != simdjson::SUCCESS || object["command"].get(name) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "a message needs a \"command\""};
  std::string known;
  for (const CommandEntry& line : kCommandEntries) {
    known += (known.empty() ? "" : ", ") + std::string(line.name);
    if (name != line.name) continue;
    Message message{object};
    const bool named = !object["jobid"].error();
    if (named && object["jobid"].get(message.job) != simdjson::SUCCESS)
      return Error{Code::kInvalid, "\"jobid\" must be a whole number"};
    if (!named && line.needs_job)
      return Error{Code::kInvalid, fmt::format("{} needs a \"jobid\"", name)};
    return line.work(desk, message);
  }
  return Error{Code::kInvalid, fmt::format("unknown command '{}'", printable(name)),
               "there are " + known};
}

Outcome apply(Desk& desk) {
  std::promise<Outcome> promise;
  auto applied = promise.get_future();
  Incoming incoming{desk.sender.job,      desk.sender.origin.run, desk.sender.origin.host,
                    desk.sender.sequence, std::move(desk.data),   {}};
  incoming.done = [&promise](Outcome outcome) { promise.set_value(std::move(outcome)); };
  desk.hub.committer().submit(std::move(incoming));
  return applied.get();
}

std::string answer_json(const Result<std::string>& answer) {
  if (answer.ok()) return answer.value();
  const std::string& hint = answer.error().hint;
  return fmt::format("{{\"error\":{}{}}}", json_quote(answer.error().message),
                     hint.empty() ? "" : ",\"hint\":" + json_quote(hint));
}

std::string command_in(const dom::element& element) {
  dom::object object;
  std::string_view name;
  if (element.get(object) != simdjson::SUCCESS || object["command"].get(name) != simdjson::SUCCESS)
    return {};
  return printable(name.substr(0, 60));
}

// "message 2 of 3, BENCHMARK: …; 2 were taken".
std::string say_refusal(const Refusal& refusal, size_t count, size_t taken) {
  const std::string others = taken == 0 ? "nothing was taken"
                             : taken + 1 == count
                                 ? "the others were taken"
                                 : fmt::format("{} of {} were taken", taken, count);
  return fmt::format("message {} of {}{}{}: {}; {}", refusal.number, count,
                     refusal.command.empty() ? "" : ", ", refusal.command, refusal.error.message,
                     others);
}

Result<HttpReply> work(Hub& hub, const HttpCall& call) {
  TRY(load_simdjson());
  TRY_ASSIGN(Sender sender, identify(call, {}));
  Desk desk{hub, std::move(sender), {}, false};
  dom::parser json;
  dom::element whole;
  std::vector<std::string> answers;
  std::optional<Refusal> refused;
  size_t taken = 0;
  const auto take = [&](const dom::element& element) {
    const auto answer = obey(desk, element);
    answers.push_back(answer_json(answer));
    taken += answer.ok() ? 1 : 0;
    if (!answer.ok() && !refused)
      refused = Refusal{answers.size(), command_in(element), answer.error()};
  };
  dom::array array;
  if (json.parse(call.body).get(whole) == simdjson::SUCCESS &&
      whole.get(array) == simdjson::SUCCESS) {
    for (const dom::element message : array) take(message);
  } else {
    std::string_view rest = call.body;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (json.parse(line).get(whole) != simdjson::SUCCESS)
        return why_unread(line).within("the body is neither a JSON array nor JSON lines");
      take(whole);
    }
  }
  const std::string list = fmt::format(",\"answers\":[{}]", fmt::join(answers, ","));
  const Outcome outcome = desk.has_data ? apply(desk) : Outcome{};
  if (!refused || outcome.how != Outcome::How::kApplied) return outcome_reply(outcome, list);
  HttpReply reply = error_reply(refused->error);
  const std::string said = say_refusal(*refused, answers.size(), taken);
  reply.body = fmt::format(
      "{{\"error\":{},\"hint\":{},\"acknowledged\":{},\"message\":{},\"taken\":{}{}}}\n",
      json_quote(said), json_quote(refused->error.hint), outcome.acknowledged, refused->number,
      taken, list);
  return reply;
}

}  // namespace

void take_commands(Hub& hub, const HttpCall& call, const Answer& answer) {
  auto reply = work(hub, call);
  answer(reply.ok() ? std::move(reply).value() : error_reply(reply.error()));
}

}  // namespace fathom
