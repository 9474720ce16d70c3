// SPDX-License-Identifier: Apache-2.0
#include "cli/line_sender.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/simdjson.h"
#include "base/text.h"

namespace fathom {

namespace dom = simdjson::dom;

Result<LineSender> LineSender::make(const HubTarget& target, const std::string& run) {
  TRY_ASSIGN(HubLink link, HubLink::make(target, run));
  link.on_wait([](const Error& why, int64_t most_ns) {
    log_warning("{}", why.message);
    log_info("waiting for the hub, at most {} s", most_ns / kNsPerSecond);
  });
  link.set_must_answer(true);
  TRY(link.acknowledged());
  link.set_must_answer(false);
  return LineSender(std::move(link));
}

Status LineSender::say_bad(const std::string& json) {
  const int64_t count = json_number(json, "bad");
  if (count == 0) return {};
  TRY(load_simdjson());
  dom::parser parser;
  dom::array list;
  if (parser.parse(json)["bad_lines"].get(list) != simdjson::SUCCESS) list = {};
  int64_t said = 0;
  for (const dom::element bad : list) {
    int64_t number = 0;
    std::string_view why;
    if (bad["line"].get(number) == simdjson::SUCCESS && bad["error"].get(why) == simdjson::SUCCESS)
      log_error("line {}: {}", lines_ + number, printable(why));
    ++said;
  }
  if (count > said) log_error("{} more lines make no sense", count - said);
  bad_ += count;
  return {};
}

Status LineSender::send(std::string_view lines) {
  if (lines.empty()) return {};
  TRY_ASSIGN(const HttpAnswer answer, link_.deliver("lines", kLinesType, sequence_ + 1, lines));
  ++sequence_;
  TRY(say_bad(answer.body));
  lines_ += std::count(lines.begin(), lines.end(), '\n') + (lines.back() == '\n' ? 0 : 1);
  return {};
}

}  // namespace fathom
