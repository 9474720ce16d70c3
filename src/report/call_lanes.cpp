// SPDX-License-Identifier: Apache-2.0
#include "report/call_lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"
#include "symbol/demangle.h"

namespace fathom {
namespace {

constexpr size_t kMostNames = 2'000;  // the last stands for all others
constexpr size_t kNameColumns = 90;

bool is_drawn(std::string_view layer) {
  return layer == "cuda" || layer == "gpu" || layer == "nccl" || layer == "cublas" ||
         layer == "cudnn";
}

std::string value_of(const Span& span, const Dictionary& names, std::string_view key) {
  if (span.detail == DetailId::kNone) return "?";
  for (const DetailItem& item : names.items(span.detail)) {
    const StringId* text = std::get_if<StringId>(&item.value);
    if (text != nullptr && names.text(item.key) == key) return std::string(names.text(*text));
  }
  return "?";
}

// Devices come first, then libraries above the driver.
std::string lane_of(const Span& span, const Dictionary& names) {
  const std::string_view layer = names.text(span.layer);
  if (layer == "gpu")
    return fmt::format("gpu {} s{}", value_of(span, names, "device"),
                       value_of(span, names, "stream"));
  return fmt::format("{} {}", layer, names.threads[index_of(span.thread)].tid);
}

int rank_of(const std::string& title) {
  return title.starts_with("gpu") ? 0 : title.starts_with("cuda") ? 2 : 1;
}

}  // namespace

size_t CallLanesBuilder::name_of(const Span& span, const Dictionary& names) {
  const std::string_view name = names.text(span.name), object = names.text(span.file);
  const bool on_device = names.text(span.layer) == "gpu";
  std::string text = on_device && !object.empty() ? demangle(object)
                     : object.empty()             ? std::string(name)
                                                  : fmt::format("{} · {}", name, demangle(object));
  text = fit(printable(text), kNameColumns);
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  if (names_.size() + 1 >= kMostNames) text = "another call";
  const auto [entry, is_new] = numbers_.try_emplace(text, names_.size());
  if (is_new) names_.push_back(text);
  return entry->second;
}

// To the longer half of what may be there.
void CallLanesBuilder::drop_short() {
  std::vector<int64_t> lengths;
  for (const auto& [title, bars] : lanes_)
    for (const CallBar& bar : bars) lengths.push_back(bar.duration_ns);
  const size_t kept = kMostCallBars;
  if (lengths.size() <= kept) return;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(kept),
                   lengths.end(), std::greater<>());
  const int64_t least = lengths[kept];
  for (auto& [title, bars] : lanes_)
    std::erase_if(bars, [&](const CallBar& bar) { return bar.duration_ns <= least; });
  size_t left = 0;
  for (const auto& [title, bars] : lanes_) left += bars.size();
  add_saturating(left_out_, static_cast<int64_t>(bars_ - left));
  bars_ = left;
}

void CallLanesBuilder::add(const Batch& batch) {
  for (const Span& span : batch.rows.of<Span>()) {
    if (!is_drawn(batch.dictionary.text(span.layer))) continue;
    CallBar bar{difference_saturating(span.start_ns, start_ns_),
                std::max<int64_t>(span.duration_ns, 0), name_of(span, batch.dictionary)};
    if (bar.start_ns < 0) continue;
    lanes_[lane_of(span, batch.dictionary)].push_back(bar);
    if (++bars_ >= 2 * kMostCallBars) drop_short();
  }
}

CallLanes CallLanesBuilder::finish() {
  drop_short();
  CallLanes made;
  for (auto& [title, bars] : lanes_) {
    if (bars.empty()) continue;
    std::stable_sort(bars.begin(), bars.end(),
                     [](const CallBar& a, const CallBar& b) { return a.start_ns < b.start_ns; });
    made.lanes.push_back({title, std::move(bars)});
  }
  std::stable_sort(made.lanes.begin(), made.lanes.end(), [](const CallLane& a, const CallLane& b) {
    return a.bars.size() > b.bars.size();
  });
  for (; made.lanes.size() > kMostCallLanes; made.lanes.pop_back())
    add_saturating(left_out_, static_cast<int64_t>(made.lanes.back().bars.size()));
  std::stable_sort(made.lanes.begin(), made.lanes.end(), [](const CallLane& a, const CallLane& b) {
    return rank_of(a.title) < rank_of(b.title);
  });
  made.names = std::move(names_);
  made.left_out = left_out_;
  return made;
}

}  // namespace fathom
