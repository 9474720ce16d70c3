// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <random>

#include "base/clock.h"
#include "base/text.h"
#include "hub/frames_in.h"
#include "hub/ingest.h"
#include "hub/lines_in.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

int status_of(const Outcome& outcome) {
  switch (outcome.how) {
    case Outcome::How::kApplied:
      return 200;
    case Outcome::How::kGap:
      return 409;
    case Outcome::How::kNoJob:
      return 404;
    case Outcome::How::kRefused:
      return 422;
    case Outcome::How::kUnavailable:
      return 503;
    case Outcome::How::kFull:
      return 507;
  }
  return 500;
}

std::string bad_lines_json(const ParsedLines& parsed) {
  std::string list;
  for (const BadLine& bad : parsed.bad)
    list += fmt::format("{}{{\"line\":{},\"error\":{}}}", list.empty() ? "" : ",", bad.number,
                        json_quote(bad.why));
  return fmt::format(",\"bad\":{},\"bad_lines\":[{}]", parsed.bad_count, list);
}

}  // namespace

Result<Sender> sender_of(const HttpCall& call) {
  Sender sender;
  TRY_ASSIGN(sender.job, job_in(call));
  return identify(call, std::move(sender));
}

Result<Sender> identify(const HttpCall& call, Sender sender) {
  sender.origin.time_ns = clock_ns(CLOCK_REALTIME);
  sender.origin.host = call.value("host").substr(0, 256);
  sender.origin.run = call.value("run");
  TRY_ASSIGN(sender.real_offset_ns, call.number("real_offset_ns", 0));
  TRY_ASSIGN(const int64_t sequence, call.number("sequence", sender.origin.run.empty() ? 1 : 0));
  if (sender.origin.run.empty()) {  // once, by whoever does not mind
    std::random_device random;
    sender.origin.run = fmt::format("anonymous-{:08x}{:08x}{:08x}", random(), random(), random());
  }
  for (const std::string* text : {&sender.origin.run, &sender.origin.host}) {
    if (text->size() <= 256 && text->find('\0') == std::string::npos) continue;
    return Error{Code::kInvalid, "the name of a run or host has at most 256 bytes and no NUL"};
  }
  if (sequence < 1 || sequence > INT64_MAX - (int64_t{1} << 32))
    return Error{Code::kInvalid, "sequence=N is missing: 1 for the first batch of a run",
                 "?run=NAME&sequence=1"};
  sender.sequence = static_cast<uint64_t>(sequence);
  return sender;
}

HttpReply outcome_reply(const Outcome& outcome, const std::string& more) {
  const int status = status_of(outcome);
  if (status == 200)
    return json_reply(200, fmt::format("{{\"acknowledged\":{}{}}}", outcome.acknowledged, more));
  const std::string hint = status == 404 ? "create the job first" : "";
  HttpReply reply = error_reply(status, outcome.why, hint);
  reply.body =
      fmt::format("{{\"error\":{},\"acknowledged\":{}{}{}}}\n", json_quote(outcome.why),
                  outcome.acknowledged, hint.empty() ? "" : ",\"hint\":" + json_quote(hint), more);
  return reply;
}

bool is_short_body(const HttpCall& call) {
  constexpr size_t kShortBytes = 16 << 10, kShortRawBytes = 256 << 10;
  return call.body.size() <= kShortBytes && raw_size_of_frames(call.body) <= kShortRawBytes;
}

void take_batches(Hub& hub, const HttpCall& call, const Answer& answer) {
  auto sender = sender_of(call);
  if (!sender.ok()) return answer(error_reply(sender.error()));
  auto found =
      contributions_of_frames(call.body, sender.value().origin, sender.value().real_offset_ns);
  if (!found.ok()) return answer(error_reply(found.error()));
  size_t bytes = 0;
  for (const Contribution& one : found.value()) bytes += one.bytes();
  const auto held = hub.hold(bytes);
  if (!held) return answer(error_reply(503, "the hub has its hands full; try again"));
  // The worst outcome is the answer; they come one after the other.
  struct Together {
    size_t left;
    Outcome outcome;
  };
  auto together = std::make_shared<Together>(Together{found.value().size(), {}});
  for (Contribution& one : found.value()) {
    Incoming incoming{sender.value().job,
                      sender.value().origin.run,
                      sender.value().origin.host,
                      sender.value().sequence++,
                      std::move(one),
                      {}};
    incoming.done = [together, answer, held](Outcome outcome) {
      const bool first_trouble = together->outcome.how == Outcome::How::kApplied;
      const uint64_t acknowledged = std::max(together->outcome.acknowledged, outcome.acknowledged);
      if (first_trouble) together->outcome = std::move(outcome);
      together->outcome.acknowledged = acknowledged;
      if (--together->left == 0) answer(outcome_reply(together->outcome, ""));
    };
    hub.committer().submit(std::move(incoming));
  }
}

void take_lines(Hub& hub, const HttpCall& call, const Answer& answer) {
  auto sender = sender_of(call);
  if (!sender.ok()) return answer(error_reply(sender.error()));
  auto parsed = contribution_of_lines(call.body, sender.value().origin);
  if (!parsed.ok()) return answer(error_reply(parsed.error()));
  const auto held = hub.hold(parsed.value().contribution.bytes());
  if (!held) return answer(error_reply(503, "the hub has its hands full; try again"));
  Incoming incoming{sender.value().job,
                    sender.value().origin.run,
                    sender.value().origin.host,
                    sender.value().sequence,
                    std::move(parsed.value().contribution),
                    {}};
  incoming.done = [answer, held, more = bad_lines_json(parsed.value())](const Outcome& outcome) {
    answer(outcome_reply(outcome, more));
  };
  hub.committer().submit(std::move(incoming));
}

}  // namespace fathom
