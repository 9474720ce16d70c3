// SPDX-License-Identifier: Apache-2.0
#include "report/flame_page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/base64.h"
#include "base/text.h"
#include "report/flame_colours.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

constexpr size_t kNameColumns = 400;
constexpr int64_t kCellNs = 20'000'000;
constexpr size_t kMostParts = 600'000;  // cells grow until there are no more
constexpr int kMostDoublings = 20;

class Numbers {
 public:
  void add(uint64_t value) {
    while (value > 127) {
      bytes_.push_back(static_cast<uint8_t>(value | 128));
      value >>= 7;
    }
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  [[nodiscard]] std::string text() const { return base64(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// "<" would end the script element that it stands in.
std::string script_json(std::string json) {
  size_t at = 0;
  while ((at = json.find('<', at)) != std::string::npos) json.replace(at, 1, "\\u003c");
  return json;
}

template <class Items, class Write>
std::string list_json(const Items& items, const Write& write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + "]";
}

std::string name_json(std::string_view name) {
  return json_quote(fit(printable(name), kNameColumns));
}

const char* mode_name(FlamePage::Mode mode) {
  switch (mode) {
    case FlamePage::Mode::kIcicle:
      return "icicle";
    case FlamePage::Mode::kHeat:
      return "heat";
    case FlamePage::Mode::kDiff:
      return "diff";
    case FlamePage::Mode::kFlame:
      break;
  }
  return "flame";
}

const char* unit_name(WeightUnit unit) {
  if (unit == WeightUnit::kNanoseconds) return "ns";
  return unit == WeightUnit::kSamples ? "samples" : "events";
}

class PageData {
 public:
  PageData(const Profile& profile, const FlamePage& page) : profile_(profile), page_(page) {}

  FlamePageData make() {
    number_functions();
    number_nodes();
    choose_cells();
    const std::string parts = parts_text();
    return {json(), nodes_.text(), parts, colours_text()};
  }

 private:
  // Those that nodes have, by name, so that the script orders by number.
  void number_functions() {
    std::vector<bool> used(profile_.functions.size());
    for (size_t i = 1; i < profile_.tree.nodes.size(); ++i)
      used[profile_.tree.nodes[i].function] = true;
    for (uint32_t i = 0; i < used.size(); ++i) {
      if (used[i]) functions_.push_back(i);
    }
    const auto key = [&](uint32_t i) {
      const Function& f = profile_.functions[i];
      return std::tuple(f.name, f.module, f.kind);
    };
    std::sort(functions_.begin(), functions_.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    function_numbers_.resize(profile_.functions.size());
    for (uint32_t i = 0; i < functions_.size(); ++i) function_numbers_[functions_[i]] = i;
  }

  void number_nodes() {
    const CallTree& tree = profile_.tree;
    node_numbers_.resize(tree.nodes.size());
    std::vector<uint32_t> todo = {0};
    uint32_t number = 0, depth = 0;
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      const CallNode& node = tree.nodes[at];
      node_numbers_[at] = number++;
      if (at != 0) {
        nodes_.add(depth + 1 - node.depth);
        nodes_.add(function_numbers_[node.function]);
      }
      depth = node.depth;
      const auto children = tree.children_of(at);
      todo.insert(todo.end(), children.rbegin(), children.rend());
    }
  }

  [[nodiscard]] int64_t cell_of(const NodeSamples& part) const {
    return cell_ns_ == 0 ? 0 : std::max<int64_t>(0, part.time_ns) / cell_ns_;
  }

  using Key = std::tuple<uint32_t, uint32_t, int64_t>;
  [[nodiscard]] Key key_of(const NodeSamples& part) const {
    return {node_numbers_[part.node], part.group, cell_of(part)};
  }

  // 20 ms, or longer where there would be too many.
  void choose_cells() {
    order_.resize(profile_.parts.size());
    std::iota(order_.begin(), order_.end(), 0);
    const bool timed = std::any_of(profile_.parts.begin(), profile_.parts.end(),
                                   [](const NodeSamples& part) { return part.time_ns > 0; });
    cell_ns_ = timed ? kCellNs : 0;
    for (int doublings = 0;; ++doublings) {
      std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
        return key_of(profile_.parts[a]) < key_of(profile_.parts[b]);
      });
      parts_ = 0;
      for (size_t i = 0; i < order_.size(); ++i) parts_ += i == 0 || is_new(i) ? 1 : 0;
      if (cell_ns_ == 0 || parts_ <= kMostParts) return;
      cell_ns_ = doublings < kMostDoublings ? cell_ns_ * 2 : 0;
    }
  }
  [[nodiscard]] bool is_new(size_t i) const {
    return key_of(profile_.parts[order_[i]]) != key_of(profile_.parts[order_[i - 1]]);
  }

  // What a sample stands for, where all stand for the same; else 0.
  [[nodiscard]] int64_t unit_weight() const {
    int64_t unit = 0;
    for (const NodeSamples& part : profile_.parts) {
      if (part.self.samples <= 0 || part.self.weight % part.self.samples != 0 ||
          spread_of(part.self) > 0)
        return 0;
      const int64_t here = part.self.weight / part.self.samples;
      if (unit != 0 && here != unit) return 0;
      unit = here;
    }
    return unit;
  }

  // How much less the samples tell than as many of equal weight would, in thousandths.
  static uint64_t spread_of(const Weight& sum) {
    const double effective = sum.effective();
    if (effective <= 0) return 0;
    return static_cast<uint64_t>(
        std::llround(1000 * (static_cast<double>(sum.samples) / effective - 1)));
  }

  std::string parts_text() {
    unit_weight_ = unit_weight();
    Numbers numbers;
    uint32_t before = 0;
    for (size_t i = 0; i < order_.size();) {
      const NodeSamples& first = profile_.parts[order_[i]];
      Weight sum = {};
      size_t end = i;
      do {
        sum += profile_.parts[order_[end++]].self;
      } while (end < order_.size() && !is_new(end));
      numbers.add(node_numbers_[first.node] - before);
      before = node_numbers_[first.node];
      numbers.add(first.group);
      if (cell_ns_ != 0) {
        numbers.add(static_cast<uint64_t>(cell_of(first)));
        cells_ = std::max(cells_, cell_of(first) + 1);
      }
      numbers.add(static_cast<uint64_t>(std::max<int64_t>(0, sum.samples)));
      if (unit_weight_ == 0) {
        numbers.add(static_cast<uint64_t>(std::max<int64_t>(0, sum.weight)));
        numbers.add(spread_of(sum));
      }
      i = end;
    }
    return numbers.text();
  }

  std::string colours_text() {
    Numbers numbers;
    for (const uint32_t i : functions_)
      numbers.add(std::stoul(flame_colour(profile_.functions[i]).substr(1), nullptr, 16));
    return numbers.text();
  }

  [[nodiscard]] std::string group_json(const SampleGroup& group) const {
    const ProfileRun& run = profile_.runs[group.source];
    return fmt::format(
        R"({{"event":{},"process":{},"thread":{},"tid":{},"rate":{},"run":{},"set":{}}})",
        name_json(group.event), name_json(group.process), name_json(group.thread), group.tid,
        group.rate_hz, name_json(run.label), run.set);
  }

  std::string json() {
    std::vector<std::string> modules = {""}, kinds = {""};
    std::map<std::string, size_t> module_numbers = {{"", 0}}, kind_numbers = {{"", 0}};
    const auto number = [](std::vector<std::string>& list, std::map<std::string, size_t>& numbers,
                           std::string_view text) {
      const auto [entry, added] = numbers.try_emplace(std::string(text), list.size());
      if (added) list.emplace_back(text);
      return std::to_string(entry->second);
    };
    const auto of_function = [&](auto write) {
      return list_json(functions_, [&](uint32_t i) { return write(profile_.functions[i]); });
    };
    const std::string names =
        of_function([](const Function& function) { return name_json(function.name); });
    const std::string module_of = of_function([&](const Function& function) {
      return number(modules, module_numbers, module_name(function.module));
    });
    const std::string kind_of = of_function(
        [&](const Function& function) { return number(kinds, kind_numbers, kind_text(function)); });
    const auto process = kind_numbers.find("process");
    return script_json(fmt::format(
        R"({{"mode":"{}","event":{},"unit":"{}","sets":{},"normalised":{},"noise":{:.4f},"rates":{},"nodes":{},"parts":{},"unit_weight":{},"cell_ns":{},"cells":{},"process_kind":{},"groups":{},"modules":{},"kinds":{},"module_of":{},"kind_of":{},"names":{}}})",
        mode_name(page_.mode), name_json(profile_.event), unit_name(profile_.unit),
        list_json(page_.sets, name_json), page_.normalised, page_.noise,
        list_json(profile_.rates_hz, [](uint32_t rate) { return std::to_string(rate); }),
        node_numbers_.size(), parts_, unit_weight_, cell_ns_, cells_,
        process == kind_numbers.end() ? -1 : static_cast<int>(process->second),
        list_json(profile_.groups, [&](const SampleGroup& group) { return group_json(group); }),
        list_json(modules, name_json), list_json(kinds, name_json), module_of, kind_of, names));
  }

  const Profile& profile_;
  const FlamePage& page_;
  std::vector<uint32_t> functions_;         // as the page has them
  std::vector<uint32_t> function_numbers_;  // the other way round
  std::vector<uint32_t> node_numbers_;
  Numbers nodes_;
  std::vector<uint32_t> order_;  // of Profile::parts
  size_t parts_ = 0;
  int64_t cell_ns_ = 0, cells_ = 0, unit_weight_ = 0;
};

}  // namespace

FlamePageData flame_page_data(const Profile& profile, const FlamePage& page) {
  return PageData(profile, page).make();
}

}  // namespace fathom
