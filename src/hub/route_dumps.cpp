// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

constexpr int64_t kRowsAtOnce = 1000;

std::string csv_lines(const SumPage& page) {
  std::string text;
  for (const SumRow& row : page.rows)
    text += fmt::format("{},{},{},{},{}\n", csv_quote(row.symbol), csv_quote(row.program),
                        csv_quote(row.event), csv_quote(row.unit), row.sum);
  return text;
}

}  // namespace

std::string seed_lines(const SumPage& page) {
  std::string text;
  for (size_t at = 0; at < page.rows.size();) {
    const SumRow& first = page.rows[at];
    text +=
        fmt::format("{{{}:{{\"execname\":{}", json_quote(first.symbol), json_quote(first.program));
    for (; at < page.rows.size() && page.rows[at].symbol == first.symbol &&
           page.rows[at].program == first.program;
         ++at)
      text += fmt::format(",{}:{}", json_quote(page.rows[at].event), page.rows[at].sum);
    text += "}}\n";
  }
  return text;
}

std::function<Result<std::string>()> profile_pages(Hub& hub, int64_t id, ProfileForm form) {
  const bool csv = form == ProfileForm::kCsv;
  struct State {
    std::string from, start;
    bool ended = false;
  };
  auto state = std::make_shared<State>();
  if (csv) state->start = "node,execname,event,unit,sum\n";
  return [&hub, id, csv, state]() -> Result<std::string> {
    std::string text = std::move(state->start);
    state->start.clear();
    while (text.empty() && !state->ended) {
      TRY_ASSIGN(const SumPage page, hub.store().sums(id, state->from));
      text = csv ? csv_lines(page) : seed_lines(page);
      state->from = page.next;
      state->ended = page.next.empty();
    }
    return text;
  };
}

std::function<Result<std::string>()> row_pages(Hub& hub, int64_t id) {
  auto from = std::make_shared<int64_t>(0);
  return [&hub, id, from]() -> Result<std::string> {
    TRY_ASSIGN(const auto rows, hub.store().rows(id, *from, kRowsAtOnce));
    *from += static_cast<int64_t>(rows.size());
    std::string text;
    for (const std::string& row : rows) text += row + "\n";
    return text;
  };
}

void dump_profile(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto id = job_in(call);
  if (!id.ok()) return answer(error_reply(id.error()));
  if (const auto job = hub.store().job(id.value()); !job.ok())
    return answer(error_reply(job.error()));
  const std::string as = call.value("as");
  if (!as.empty() && as != "csv" && as != "lines")
    return answer(error_reply(400, "as=" + printable(as) + " is no form", "lines or csv"));
  HttpReply reply;
  reply.type = as == "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson";
  reply.more =
      profile_pages(hub, id.value(), as == "csv" ? ProfileForm::kCsv : ProfileForm::kLines);
  answer(std::move(reply));
}

void dump_rows(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto id = job_in(call);
  if (!id.ok()) return answer(error_reply(id.error()));
  if (const auto job = hub.store().job(id.value()); !job.ok())
    return answer(error_reply(job.error()));
  HttpReply reply;
  reply.type = "application/x-ndjson";
  reply.more = row_pages(hub, id.value());
  answer(std::move(reply));
}

void clear_rows(Hub& hub, const HttpCall& call, const Answer& answer) {
  const auto id = job_in(call);
  if (!id.ok()) return answer(error_reply(id.error()));
  const auto cleared = hub.store().clear_rows(id.value());
  answer(cleared.ok() ? json_reply(200, fmt::format("{{\"cleared\":{}}}", id.value()))
                      : error_reply(cleared.error()));
}

}  // namespace fathom
