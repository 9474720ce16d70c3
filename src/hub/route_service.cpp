// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/openmetrics.h"
#include "base/text.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

int64_t resident_bytes() {
  const auto text = read_file("/proc/self/statm", 256);
  if (!text.ok()) return 0;
  const auto words = split_words(text.value());
  return words.size() < 2 ? 0 : parse_number(words[1]).value_or(0) * sysconf(_SC_PAGESIZE);
}

}  // namespace

void show_start(Hub& /*hub*/, const HttpCall& /*call*/, const Answer& answer) {
  HttpReply reply;
  reply.type = "text/plain; charset=utf-8";
  reply.body =
      "fathom hub " FATHOM_VERSION "\n/api/v1/jobs /api/v1/events /metrics /healthz /readyz\n";
  answer(std::move(reply));
}

void show_health(Hub& /*hub*/, const HttpCall& /*call*/, const Answer& answer) {
  answer(json_reply(200, "{\"alive\":true}"));
}

void show_ready(Hub& hub, const HttpCall& /*call*/, const Answer& answer) {
  const auto ready = hub.ready(monotonic_ns());
  if (ready.ok()) return answer(json_reply(200, "{\"ready\":true}"));
  answer(error_reply(ready.error().code == Code::kNoSpace ? 507 : 503, ready.error().message));
}

void show_metrics(Hub& hub, const HttpCall& call, const Answer& answer) {
  OpenMetricsText text;
  const auto add = [&](OpenMetricsText::Type type, const char* name, const char* help, double value,
                       const char* unit = "") {
    text.add({type, std::string("fathom_hub_") + name, unit, help, {}, value, {}});
  };
  using enum OpenMetricsText::Type;
  const CommitCounts& commits = hub.committer().counts();
  const HubCounts& counts = hub.counts();
  const auto of = [](const std::atomic<int64_t>& count) {
    return static_cast<double>(count.load());
  };
  add(kCounter, "batches", "batches applied", of(commits.batches));
  add(kCounter, "duplicates", "batches that had been applied before", of(commits.duplicates));
  add(kCounter, "refused_batches", "batches refused", of(commits.refused));
  add(kCounter, "updates", "counter updates and rows applied", of(commits.updates));
  add(kCounter, "commits", "steps in which they were", of(commits.commits));
  add(kCounter, "store_retries", "times the store was asked again", of(commits.retries));
  add(kCounter, "sums_written", "additions that the store was given",
      static_cast<double>(hub.store().sums_written()));
  add(kGauge, "waiting_batches", "batches not yet applied", of(commits.waiting));
  add(kGauge, "connections", "open connections", of(counts.connections));
  add(kCounter, "requests", "requests", of(counts.requests));
  add(kCounter, "refused_requests", "requests answered with an error", of(counts.refused));
  add(kCounter, "timeouts", "connections ended for taking too long", of(counts.timeouts));
  add(kCounter, "turned_away", "connections and requests for which there was no room",
      of(counts.turned_away));
  add(kCounter, "received", "bodies of requests", of(counts.bytes_in), "bytes");
  add(kGauge, "pending", "bodies of requests under way", of(counts.pending_bytes), "bytes");
  add(kGauge, "watchers", "streams of events", static_cast<double>(hub.live().watchers()));
  add(kGauge, "resident_memory", "memory of the hub", static_cast<double>(resident_bytes()),
      "bytes");
  add(kGauge, "uptime", "since the start",
      static_cast<double>(monotonic_ns() - hub.started_ns()) / 1e9, "s");
  HttpReply reply;
  const auto form = openmetrics_form(call.accept);
  reply.type = OpenMetricsText::content_type(form);
  reply.body = text.text(form);
  answer(std::move(reply));
}

void watch_job(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto id = job_in(call);
  if (!id.ok()) return answer(error_reply(id.error()));
  // Subscribed before the look: what comes in between is not missed.
  HttpReply reply;
  reply.type = "text/event-stream";
  reply.events = hub.live().subscribe(id.value());
  if (const auto job = hub.store().job(id.value()); !job.ok())
    return answer(error_reply(job.error()));
  answer(std::move(reply));
}

void watch_all(Hub& hub, const HttpCall& /*call*/, const Answer& answer) {
  HttpReply reply;
  reply.type = "text/event-stream";
  reply.events = hub.live().subscribe(0);
  answer(std::move(reply));
}

}  // namespace fathom
