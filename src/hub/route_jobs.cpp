// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>

#include "base/simdjson.h"
#include "base/text.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMostLabels = 100;

Result<std::string> labels_in(const dom::object& object) {
  if (object["labels"].error()) return std::string("{}");
  dom::object labels;
  if (object["labels"].get(labels) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"labels\" must be an object of texts"};
  std::string json;
  size_t count = 0;
  for (const dom::key_value_pair label : labels) {
    std::string_view value;
    if (label.value.get(value) != simdjson::SUCCESS || value.size() > 1024 ||
        label.key.size() > 256 || ++count > kMostLabels)
      return Error{Code::kInvalid, "\"labels\" must be an object of at most 100 short texts"};
    json +=
        fmt::format("{}{}:{}", json.empty() ? "" : ",", json_quote(label.key), json_quote(value));
  }
  return "{" + json + "}";
}

Result<Job> create(Hub& hub, const HttpCall& call) {
  TRY(load_simdjson());
  dom::parser parser;
  dom::object object;
  const std::string text = call.body.empty() ? "{}" : call.body;
  if (parser.parse(text).get(object) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "the body must be a JSON object",
                 R"({"id":2001,"description":"nightly","labels":{"os":"linux"}})"};
  int64_t id = 0;
  if (!object["id"].error() && object["id"].get(id) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"id\" must be a whole number"};
  if (!object["id"].error() && id == 0) return Error{Code::kInvalid, "0 is no job id"};
  std::string_view description;
  if (!object["description"].error() && object["description"].get(description) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"description\" must be a text"};
  TRY_ASSIGN(const std::string labels, labels_in(object));
  std::string plain(description);
  std::replace(plain.begin(), plain.end(), '\0', ' ');
  return hub.store().create_job(id, plain, labels);
}

std::string run_json(const RunState& run) {
  return fmt::format(
      "{{\"run\":{},\"host\":{},\"acknowledged\":{},\"first\":\"{}\",\"last\":\"{}\"}}",
      json_quote(run.run), json_quote(run.host), run.sequence, utc_text(run.first_ns),
      utc_text(run.last_ns));
}

// {"name":[…]}; each is a text already.
HttpReply list_reply(const char* name, const std::vector<std::string>& items) {
  return json_reply(200, fmt::format("{{\"{}\":[{}]}}", name, fmt::join(items, ",")));
}

// The job of a call, after a look whether there is one.
Result<int64_t> present_job(Hub& hub, const HttpCall& call) {
  TRY_ASSIGN(const int64_t id, job_in(call));
  TRY(hub.store().job(id));
  return id;
}

// Answers with what `made` gives of a job that there is.
template <class Make>
void answer_of_job(Hub& hub, const HttpCall& call, const Answer& answer, Make&& make) {
  const auto id = present_job(hub, call);
  if (!id.ok()) return answer(error_reply(id.error()));
  auto found = make(id.value());
  answer(found.ok() ? std::move(found).value() : error_reply(found.error()));
}

}  // namespace

Result<int64_t> job_in(const HttpCall& call) {
  const auto id = parse_number(call.parts.at(0));
  if (id.ok() && id.value() >= kFirstJob && id.value() <= kLastJob) return id.value();
  return Error{Code::kNotFound, printable(call.parts.at(0)) + " is no job id",
               fmt::format("ids are {} to {}", kFirstJob, kLastJob)};
}

std::string job_json(const Job& job) {
  return fmt::format(
      "{{\"id\":{},\"description\":{},\"labels\":{},\"created\":\"{}\",\"rows\":{}}}", job.id,
      json_quote(job.description), job.labels, utc_text(job.created_ns), job.rows);
}

void list_jobs(Hub& hub, const HttpCall& /*call*/, const Answer& answer) {
  const auto jobs = hub.store().jobs();
  if (!jobs.ok()) return answer(error_reply(jobs.error()));
  std::vector<std::string> items;
  items.reserve(jobs.value().size());
  for (const Job& job : jobs.value()) items.push_back(job_json(job));
  answer(list_reply("jobs", items));
}

void create_job(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto job = create(hub, call);
  answer(job.ok() ? json_reply(201, job_json(job.value())) : error_reply(job.error()));
}

void show_job(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto id = job_in(call);
  if (!id.ok()) return answer(error_reply(id.error()));
  const auto job = hub.store().job(id.value());
  answer(job.ok() ? json_reply(200, job_json(job.value())) : error_reply(job.error()));
}

void remove_job(Hub& hub, const HttpCall& call, const Answer& answer) {
  answer_of_job(hub, call, answer, [&](int64_t id) -> Result<HttpReply> {
    TRY(hub.store().remove_job(id));
    hub.committer().forget(id);
    return json_reply(200, fmt::format("{{\"removed\":{}}}", id));
  });
}

void list_runs(Hub& hub, const HttpCall& call, const Answer& answer) {
  answer_of_job(hub, call, answer, [&](int64_t id) -> Result<HttpReply> {
    TRY_ASSIGN(const auto runs, hub.store().runs(id));
    std::vector<std::string> items;
    items.reserve(runs.size());
    for (const RunState& run : runs) items.push_back(run_json(run));
    return list_reply("runs", items);
  });
}

void show_run(Hub& hub, const HttpCall& call, const Answer& answer) {
  answer_of_job(hub, call, answer, [&](int64_t id) -> Result<HttpReply> {
    TRY_ASSIGN(const uint64_t last, hub.store().last_sequence(id, call.parts.at(1)));
    return json_reply(200, fmt::format("{{\"acknowledged\":{}}}", last));
  });
}

void list_gauges(Hub& hub, const HttpCall& call, const Answer& answer) {
  answer_of_job(hub, call, answer, [&](int64_t id) -> Result<HttpReply> {
    TRY_ASSIGN(const auto gauges, hub.store().gauges(id));
    std::vector<std::string> items;
    items.reserve(gauges.size());
    for (const GaugeValue& gauge : gauges)
      items.push_back(
          fmt::format("{{\"scope\":{},\"name\":{},\"unit\":{},\"value\":{},\"time\":\"{}\"}}",
                      json_quote(gauge.scope), json_quote(gauge.name), json_quote(gauge.unit),
                      std::isfinite(gauge.value) ? fmt::format("{}", gauge.value) : "null",
                      utc_text(gauge.time_ns)));
    return list_reply("gauges", items);
  });
}

void list_marks(Hub& hub, const HttpCall& call, const Answer& answer) {
  answer_of_job(hub, call, answer, [&](int64_t id) -> Result<HttpReply> {
    TRY_ASSIGN(const auto marks, hub.store().marks(id));
    std::vector<std::string> items;
    items.reserve(marks.size());
    for (const MarkText& mark : marks)
      items.push_back(fmt::format("{{\"text\":{},\"time\":\"{}\"}}", json_quote(mark.text),
                                  utc_text(mark.time_ns)));
    return list_reply("marks", items);
  });
}

}  // namespace fathom
