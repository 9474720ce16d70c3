// SPDX-License-Identifier: Apache-2.0
#include "report/call_sites.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "report/frame_name.h"

namespace fathom {
namespace {

// What stands between a program and the kernel, and is no place in the program.
bool is_between(const Frame& frame, const Dictionary& names) {
  if (frame.kind == FrameKind::kKernel) return true;
  static constexpr std::array<std::string_view, 7> kLibraries = {
      "libc.so", "libc-2", "ld-linux", "ld-musl", "libpthread", "libfathom-io", "[vdso]"};
  const std::string_view module = base_name(names.text(frame.module));
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return module.starts_with(library); });
}

class SiteSums {
 public:
  SiteSums(const CallRange& range, std::string_view layer,
           const std::function<bool(std::string_view)>& wanted)
      : range_(range), layer_(layer), wanted_(wanted) {}

  // Each stack is looked at once, whatever the number of calls it made.
  void add(const Batch& batch) {
    std::map<std::pair<StackId, StringId>, CallFigures> sums;
    std::map<ThreadId, bool> threads;
    for (const Span& span : batch.rows.of<Span>()) {
      if (span.stack == StackId::kNone || batch.dictionary.text(span.layer) != layer_) continue;
      if (span.start_ns < range_.from_ns || span.start_ns >= range_.to_ns) continue;
      if (!is_of_range(span.thread, batch.dictionary, threads)) continue;
      CallFigures one;
      one.calls = 1;
      one.time_ns = std::max<int64_t>(span.duration_ns, 0);
      one.bytes = span.bytes;
      if (span.result) one.errors = *span.result < 0 ? 1 : 0;
      sums[{span.stack, span.name}] += one;
    }
    for (const auto& [key, figures] : sums) add(key.first, key.second, figures, batch.dictionary);
  }

  std::vector<CallSite> take() {
    std::vector<CallSite> sites;
    sites.reserve(sums_.size());
    for (const auto& [key, figures] : sums_)
      sites.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), figures});
    std::stable_sort(sites.begin(), sites.end(), [](const CallSite& a, const CallSite& b) {
      return a.figures.time_ns.value_or(0) > b.figures.time_ns.value_or(0);
    });
    return sites;
  }

 private:
  bool is_of_range(ThreadId thread, const Dictionary& names, std::map<ThreadId, bool>& known) {
    if (!range_.wanted) return true;
    const auto [place, added] = known.try_emplace(thread, false);
    if (added) place->second = range_.wanted(names.threads[index_of(thread)]);
    return place->second;
  }

  void add(StackId stack, StringId called, const CallFigures& figures, const Dictionary& names) {
    const std::string name(names.text(called));
    if (!wanted_(name)) return;
    const auto frame_at = [&](StackId at) -> const Frame& {
      return names.frames[index_of(names.stacks[index_of(at)].frame)];
    };
    const auto above = [&](StackId at) { return names.stacks[index_of(at)].parent; };
    StackId innermost = stack;  // of the program's own side
    while (above(innermost) != StackId::kNone && frame_at(innermost).kind == FrameKind::kKernel)
      innermost = above(innermost);
    StackId at = innermost;
    while (at != StackId::kNone && is_between(frame_at(at), names)) at = above(at);
    if (at == StackId::kNone) at = innermost;
    const std::string place = frame_name(frame_at(at), names);
    std::string caller;
    for (at = above(at); at != StackId::kNone; at = above(at)) {
      caller = frame_name(frame_at(at), names);
      if (caller != place) break;
      caller.clear();  // it called itself
    }
    sums_[{place, caller, name}] += figures;
  }

  const CallRange& range_;
  std::string_view layer_;
  const std::function<bool(std::string_view)>& wanted_;
  std::map<std::tuple<std::string, std::string, std::string>, CallFigures> sums_;
};

}  // namespace

Result<std::vector<CallSite>> load_call_sites(
    const Recording& recording, const CallRange& range, std::string_view layer,
    const std::function<bool(std::string_view name)>& wanted) {
  SiteSums sums(range, layer, wanted);
  TRY(recording.read(tables_of<Span>(), [&](const Batch& batch) -> Status {
    sums.add(batch);
    return {};
  }));
  return sums.take();
}

}  // namespace fathom
