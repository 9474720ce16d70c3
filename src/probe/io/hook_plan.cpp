// SPDX-License-Identifier: Apache-2.0
#include "probe/io/hook_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "probe/io/kernel_functions.h"
#include "probe/io/user_functions.h"

namespace fathom {
namespace {

struct PairEnding {
  std::string_view enter, leave;
};
constexpr std::array kPairs = {PairEnding{"_enter", "_exit"}, PairEnding{"_begin", "_end"},
                               PairEnding{"_start", "_end"}, PairEnding{"_start", "_done"}};

void add_tracepoint(const KernelTypes& types, const std::string& name, WireHookKind kind,
                    std::vector<HookSide>& sides) {
  const KernelPlace* place = types.tracepoint(name);
  if (place == nullptr) return;
  HookSide side{HookRung::kTracepoint, kind, name, *place};
  if (kind == kHookLeave) side.place.file = kHookNoFile;
  sides.push_back(std::move(side));
}

// A pair needs both.
void add_pair(const KernelTypes& types, const std::string& enter, const std::string& leave,
              std::vector<HookSide>& sides) {
  if (types.tracepoint(enter) == nullptr || types.tracepoint(leave) == nullptr) return;
  add_tracepoint(types, enter, kHookEnter, sides);
  add_tracepoint(types, leave, kHookLeave, sides);
}

// Tracepoints that tell of a function by their name.
std::vector<HookSide> tracepoints_of(const KernelTypes& types, const std::string& function) {
  std::vector<HookSide> sides;
  for (const PairEnding& pair : kPairs) {
    add_pair(types, function + std::string(pair.enter), function + std::string(pair.leave), sides);
    if (!sides.empty()) return sides;
  }
  add_tracepoint(types, function, kHookMoment, sides);
  return sides;
}

class Wishes {
 public:
  Wishes(const KernelTypes& types, std::set<std::string> taken)
      : types_(types), taken_(std::move(taken)) {}

  void add_layer(const LayerHook& hook) {
    HookWish wish{hook.layer, hook.function, hook.function};
    for (const std::string_view word : split_words(hook.tracepoints)) {
      const size_t plus = word.find('+');
      if (plus == std::string_view::npos)
        add_tracepoint(types_, std::string(word), kHookMoment, wish.tracepoints);
      else
        add_pair(types_, std::string(word.substr(0, plus)), std::string(word.substr(plus + 1)),
                 wish.tracepoints);
    }
    add(std::move(wish));
  }

  Status add(const Capture& capture) {
    switch (capture.kind) {
      case Capture::Kind::kSystemCalls:
        return {};
      case Capture::Kind::kFunctions:
        add_functions(capture);
        break;
      case Capture::Kind::kTracepoints:
        add_tracepoints(capture);
        break;
      case Capture::Kind::kUser:
        TRY(add_user(capture));
        break;
    }
    if (wishes_.size() <= kWireHooks) return {};
    return Error{Code::kInvalid,
                 fmt::format("{} of layer {} fits too much: {} functions are wanted, {} can be had",
                             printable(capture.pattern.text()), capture.layer, wishes_.size(),
                             static_cast<int>(kWireHooks)),
                 "a narrower regex"};
  }

  std::vector<HookWish> take() { return std::move(wishes_); }

 private:
  // A pattern that fits nothing stands for itself, among what cannot be had.
  void add_none(const Capture& capture) {
    wishes_.push_back({capture.layer, printable(capture.pattern.text())});
  }

  void add_functions(const Capture& capture) {
    const std::vector<std::string> names = types_.functions_like(capture.pattern);
    if (names.empty()) add_none(capture);
    for (const std::string& name : names) {
      HookWish wish{capture.layer, name, name, tracepoints_of(types_, name)};
      wish.by = capture.by;
      add(std::move(wish));
    }
  }

  // Pairs become one function with a time.
  void add_tracepoints(const Capture& capture) {
    const std::vector<std::string> names = types_.tracepoints_like(capture.pattern);
    if (names.empty()) add_none(capture);
    const std::set<std::string> all(names.begin(), names.end());
    for (const std::string& name : names) {
      HookWish wish{capture.layer, name};
      for (const PairEnding& pair : kPairs) {
        if (!wish.tracepoints.empty() || !name.ends_with(pair.enter)) continue;
        const std::string stem = name.substr(0, name.size() - pair.enter.size());
        if (!all.contains(stem + std::string(pair.leave))) continue;
        add_pair(types_, name, stem + std::string(pair.leave), wish.tracepoints);
        wish.name = stem;
      }
      if (wish.tracepoints.empty()) add_tracepoint(types_, name, kHookMoment, wish.tracepoints);
      add(std::move(wish));
    }
  }

  Status add_user(const Capture& capture) {
    TRY_ASSIGN(const std::vector<UserFunction> functions,
               user_functions(capture.file, capture.pattern));
    for (const UserFunction& function : functions) {
      HookWish wish{capture.layer, function.name};
      wish.file = capture.file;
      wish.offset = function.offset;
      add(std::move(wish));
    }
    return {};
  }

  // A place that was named before, by a function or by its tracepoint, is counted there.
  void add(HookWish wish) {
    std::vector<std::string> keys;
    if (!wish.function.empty()) keys.push_back(wish.function);
    if (!wish.file.empty()) keys.push_back(fmt::format("{}:{}", wish.file, wish.offset));
    for (const HookSide& side : wish.tracepoints) keys.push_back(side.where);
    for (const std::string& key : keys) {
      if (taken_.contains(key)) return;
      if (const auto owner = owners_.find(key); owner != owners_.end()) {
        std::vector<std::string>& also = wishes_[owner->second].also;
        if (wishes_[owner->second].layer != wish.layer &&
            std::find(also.begin(), also.end(), wish.layer) == also.end())
          also.push_back(wish.layer);
        return;
      }
    }
    for (std::string& key : keys) owners_.emplace(std::move(key), wishes_.size());
    wishes_.push_back(std::move(wish));
  }

  const KernelTypes& types_;
  std::set<std::string> taken_;
  std::unordered_map<std::string, size_t> owners_;
  std::vector<HookWish> wishes_;
};

std::vector<HookSide> function_sides(const std::string& function, const KernelPlace& place,
                                     HookRung rung) {
  HookSide enter{rung, kHookEnter, function, place};
  HookSide leave{rung, kHookLeave, function, place};
  leave.place.file = kHookNoFile;
  return {std::move(enter), std::move(leave)};
}

// The rungs there are for it, the best first.
std::vector<std::vector<HookSide>> rungs_of(const HookWish& wish, const KernelTypes& types) {
  std::vector<std::vector<HookSide>> rungs;
  if (!wish.file.empty()) {
    HookSide enter{HookRung::kUprobe, kHookEnter, wish.file, {}, wish.offset};
    HookSide leave{HookRung::kUprobe, kHookLeave, wish.file, {}, wish.offset};
    rungs.push_back({enter, leave});
    return rungs;
  }
  const KernelPlace* place = wish.function.empty() ? nullptr : types.function(wish.function);
  if (place != nullptr) rungs.push_back(function_sides(wish.function, *place, HookRung::kFentry));
  if (!wish.tracepoints.empty()) rungs.push_back(wish.tracepoints);
  if (place != nullptr) rungs.push_back(function_sides(wish.function, *place, HookRung::kKprobe));
  return rungs;
}

}  // namespace

const char* side_name(const HookSide& side) {
  const bool leave = side.kind == kHookLeave;
  switch (side.rung) {
    case HookRung::kFentry:
      return leave ? "fexit" : "fentry";
    case HookRung::kTracepoint:
      return "tp_btf";
    case HookRung::kKprobe:
      return leave ? "kretprobe" : "kprobe";
    case HookRung::kUprobe:
      return leave ? "uretprobe" : "uprobe";
    case HookRung::kNone:
      break;
  }
  return "nothing";
}

int side_cost_ns(const HookSide& side) {
  switch (side.rung) {
    case HookRung::kFentry:
    case HookRung::kTracepoint:
      return 80;
    case HookRung::kKprobe:
      return 250;
    case HookRung::kUprobe:
      return 1000;
    case HookRung::kNone:
      break;
  }
  return 0;
}

Result<std::vector<HookWish>> wish_hooks(const LayerChoice& layers,
                                         const std::vector<Capture>& captures,
                                         const KernelTypes& types, std::set<std::string> taken) {
  Wishes wishes(types, std::move(taken));
  for (const LayerHook& hook : layer_hooks())
    if (layers.has(hook.layer)) wishes.add_layer(hook);
  for (const Capture& capture : captures) TRY(wishes.add(capture));
  return wishes.take();
}

HookOutcome attach_best(const HookWish& wish, const KernelTypes& types, HookAttacher& attacher) {
  HookOutcome outcome;
  for (std::vector<HookSide>& sides : rungs_of(wish, types)) {
    if (!wish.by.empty() &&
        std::find(wish.by.begin(), wish.by.end(), sides.front().rung) == wish.by.end())
      continue;
    if (const Status attached = attacher.attach(sides); !attached.ok()) {
      if (outcome.why.empty()) outcome.why = attached.error().message;
      continue;
    }
    outcome.has_time = sides.front().kind == kHookEnter;
    outcome.has_bytes = sides.front().place.result == kResultBytes;
    outcome.sides = std::move(sides);
    return outcome;
  }
  if (outcome.why.empty()) outcome.why = "this kernel has no such function";
  return outcome;
}

}  // namespace fathom
