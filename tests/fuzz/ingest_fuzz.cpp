// SPDX-License-Identifier: Apache-2.0
// Whatever is sent to a hub: as frames, as JSON lines, as the head of a request, as messages of the
// profiling-framework's protocol and as the lines of perf script in them. Nothing may crash; what
// is taken holds to the rules that stores rely on.
//
//   build/fuzz/fuzz/ingest_fuzz -max_total_time=120 CORPUS
#include <cstdlib>

#include "hub/frames_in.h"
#include "hub/guard.h"
#include "hub/legacy_protocol.h"
#include "hub/lines_in.h"
#include "hub/live_event.h"
#include "hub/perf_script_line.h"
#include "record/frame_packer.h"

namespace fathom {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Contribution& taken) {
  for (const SumDelta& sum : taken.sums) {
    const SumName name = split_sum_key(sum.key);
    require(sum_key(name.symbol, name.program, name.event) == sum.key);
    require(check_sum_name(name.symbol, name.program, name.event).ok());
    require(sum.delta != INT64_MIN);
  }
  for (const std::string& row : taken.rows)
    require(row.starts_with('{') && row.ends_with('}') && row.find('\n') == std::string::npos);
  for (const MarkText& mark : taken.marks) require(mark.text.find('\0') == std::string::npos);
  Change change;
  change.sums = taken.sums;
  change.rows = taken.rows;
  change.gauges = taken.gauges;
  change.marks = taken.marks;
  require(live_event(change, taken.updates).find('\n') == std::string::npos);
}

void knock(std::string_view text) {
  HubOptions options;
  options.token = "0123456789abcdef";
  RequestHead head;
  head.method = "POST";
  head.target = text;
  head.authorization = "Bearer 0123456789abcdef";
  head.content_type = "application/x-ndjson";
  head.content_length = text.size();
  const auto admitted = admit(options, head);
  if (const auto* refused = std::get_if<HttpReply>(&admitted)) require(refused->status >= 400);
}

std::vector<std::string> messages_of(std::string_view first, std::string_view second) {
  LegacyFramer framer;
  std::vector<std::string> messages;
  for (const std::string_view part : {first, second}) {
    framer.append(part);
    auto next = framer.next();
    for (; next.ok() && next.value(); next = framer.next()) messages.push_back(*next.value());
    if (!next.ok()) return messages;
  }
  return messages;
}

// Messages are the same wherever a segment ends.
void frame_legacy(std::string_view bytes) {
  const auto whole = messages_of(bytes, {});
  for (const std::string& message : whole)
    require(message.starts_with('{') && message.ends_with('}'));
  const size_t middle = bytes.size() / 2;
  require(messages_of(bytes.substr(0, middle), bytes.substr(middle)) == whole);
  if (const auto sample = parse_perf_script_line(bytes))
    require(!sample->symbol.empty() && !sample->event.empty());
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const RowOrigin origin{"run", "host", 1};
  if (const auto frames = contributions_of_frames(bytes, origin, INT64_MAX); frames.ok())
    for (const Contribution& taken : frames.value()) check(taken);
  // The same as what a frame with a right checksum holds.
  static FramePacker packer;
  const auto packed = packer.pack(bytes, {}, tables_of<NodeSum, Row, Gauge, Mark>(), 0);
  if (packed.ok()) {
    const auto inside = contributions_of_frames(packed.value(), origin, 0);
    if (inside.ok())
      for (const Contribution& taken : inside.value()) check(taken);
  }
  if (const auto lines = contribution_of_lines(bytes, origin); lines.ok())
    check(lines.value().contribution);
  knock(bytes);
  frame_legacy(bytes);
  return 0;
}
