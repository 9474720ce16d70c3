// SPDX-License-Identifier: Apache-2.0
#include "hub/frames_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/saturate.h"
#include "base/text.h"
#include "record/frame.h"

namespace fathom {
namespace {

constexpr TableSet kTables = tables_of<NodeSum, Row, Gauge, Mark>();

// Adds equal nodes up by their ids, before any text is touched.
Status take_sums(const Batch& batch, Contribution& out) {
  struct Hash {
    size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
      return (key.first * 0x9E3779B97F4A7C15U) ^ (key.second * 0xC2B2AE3D27D4EB4FU);
    }
  };
  const Dictionary& names = batch.dictionary;
  const auto& nodes = batch.rows.of<NodeSum>();
  std::unordered_map<std::pair<uint64_t, uint64_t>, size_t, Hash> places;
  places.reserve(nodes.size());
  out.updates += static_cast<int64_t>(nodes.size());
  std::unordered_map<uint32_t, StringId> units;
  for (const NodeSum& node : nodes) {
    const StringId program = node.program != StringId::kNone ? node.program : node.module;
    const std::pair key(uint64_t{index_of(node.symbol)} << 32 | index_of(program),
                        uint64_t{index_of(node.event)});
    units.emplace(static_cast<uint32_t>(node.event), node.unit);
    const auto [found, is_new] = places.emplace(key, out.sums.size());
    if (is_new) {
      const std::string_view symbol = names.text(node.symbol);
      TRY(out.add_sum(symbol.empty() ? "[unknown]" : symbol, program_of(names.text(program)),
                      names.text(node.event), node.sum));
      continue;
    }
    int64_t& delta = out.sums[found->second].delta;
    if (__builtin_add_overflow(delta, node.sum, &delta) || delta == INT64_MIN)
      return Error{Code::kInvalid, "the sums of one frame are beyond 64 bits"};
  }
  for (const auto& [event, unit] : units)
    out.units.emplace_back(names.text(static_cast<StringId>(event)),
                           names.text(unit).substr(0, kMostNameBytes));
  return {};
}

Status take_row(const Batch& batch, const Row& row, const RowOrigin& origin, Contribution& out) {
  const Dictionary& names = batch.dictionary;
  RowBuilder builder;
  for (const DetailItem& item : names.items(row.values)) {
    const std::string_view key = names.text(item.key);
    const bool is_time = key == "Exectime" || key == "time";
    if (const auto* real = std::get_if<double>(&item.value); real != nullptr && is_time)
      TRY(builder.add_time(*real));
    else if (const auto* whole = std::get_if<int64_t>(&item.value); whole != nullptr && is_time)
      TRY(builder.add_time(static_cast<double>(*whole)));
    else if (whole != nullptr)
      TRY(builder.add_count(key, *whole));
    else
      return Error{Code::kInvalid, "a benchmark row holds a time and whole numbers"};
  }
  if (builder.empty()) return Error{Code::kInvalid, "a benchmark row without values"};
  out.rows.push_back(builder.json(origin));
  ++out.updates;
  return {};
}

int64_t real_time(int64_t time_ns, int64_t real_offset_ns) {
  add_saturating(time_ns, real_offset_ns);
  return time_ns;
}

void take_moments(const Batch& batch, int64_t real_offset_ns, Contribution& out) {
  const Dictionary& names = batch.dictionary;
  const auto plain = [&](StringId id) {
    std::string text(names.text(id).substr(0, kMostNameBytes));
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
  };
  for (const Gauge& gauge : batch.rows.of<Gauge>())
    out.gauges.push_back({plain(gauge.name), plain(gauge.unit), plain(gauge.scope), gauge.value,
                          real_time(gauge.time_ns, real_offset_ns)});
  for (const Mark& mark : batch.rows.of<Mark>())
    out.marks.push_back({real_time(mark.time_ns, real_offset_ns), plain(mark.text)});
}

Result<Contribution> contribution_of(std::string_view frame, const RowOrigin& origin,
                                     int64_t real_offset_ns) {
  TRY_ASSIGN(const Batch batch, decode_frame(frame, kTables));
  Contribution out;
  TRY(take_sums(batch, out));
  for (const Row& row : batch.rows.of<Row>()) TRY(take_row(batch, row, origin, out));
  take_moments(batch, real_offset_ns, out);
  return out;
}

}  // namespace

size_t raw_size_of_frames(std::string_view body) {
  size_t raw_bytes = 0;
  while (!body.empty()) {
    const auto header = parse_frame_header(body);
    if (!header.ok()) break;
    raw_bytes += header.value().raw_bytes;
    body.remove_prefix(std::min(body.size(), kFrameHeaderBytes + header.value().payload_bytes));
  }
  return raw_bytes;
}

Result<std::vector<Contribution>> contributions_of_frames(std::string_view body,
                                                          const RowOrigin& origin,
                                                          int64_t real_offset_ns) {
  std::vector<Contribution> found;
  size_t bytes = 0, raw_bytes = 0;
  for (size_t at = 0; at < body.size();) {
    const std::string where = fmt::format("frame {}", found.size() + 1);
    if (found.size() >= kMostFramesInBody)
      return Error{Code::kInvalid, fmt::format("more than {} frames at once", kMostFramesInBody)};
    auto header = parse_frame_header(body.substr(at));
    if (!header.ok()) return std::move(header).error().within(where);
    raw_bytes += header.value().raw_bytes;
    if (raw_bytes > kMaxRawBytesInBody)
      return Error{Code::kInvalid,
                   fmt::format("{}: the frames of one request exceed {} when decompressed", where,
                               format_bytes(kMaxRawBytesInBody)),
                   "send fewer frames per request"};
    const size_t size = kFrameHeaderBytes + header.value().payload_bytes;
    if (size > body.size() - at) return Error{Code::kCorrupt, where + ": it is cut short"};
    auto one = contribution_of(body.substr(at, size), origin, real_offset_ns);
    if (!one.ok()) return std::move(one).error().within(where);
    bytes += one.value().bytes();
    if (bytes > Contribution::kMostKeyBytes)
      return Error{Code::kInvalid, where + ": the names of one request are too long together"};
    found.push_back(std::move(one).value());
    at += size;
  }
  if (found.empty()) return Error{Code::kCorrupt, "there is no frame in it"};
  return found;
}

}  // namespace fathom
