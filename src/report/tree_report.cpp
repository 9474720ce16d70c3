// SPDX-License-Identifier: Apache-2.0
#include "report/tree_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/profile_text.h"
#include "report/share_interval.h"

namespace fathom {
namespace {

constexpr size_t kTreeValueColumns = 46;
constexpr size_t kSelfIntervalColumns = 13;  // of these, which a narrow terminal does not have
constexpr size_t kWideColumns = 100;
constexpr size_t kMinNameColumns = 24;  // kept for a name, however deep it stands

class TreeText {
 public:
  TreeText(const Profile& profile, const ReportOptions& options)
      : profile_(profile), options_(options) {}

  std::string write() {
    text_ = styled(Style::kHeading,
                   fmt::format("{:>8} {:>12} {:>8} {} function", "total", "95 %", "self",
                               wide() ? "        95 % " : ""),
                   options_.colours) +
            "\n";
    push(0, 0);
    while (!todo_.empty()) {
      const Item item = todo_.back();
      todo_.pop_back();
      if (item.hidden.samples > 0) {
        hidden_line(item);
      } else {
        node_line(item);
      }
    }
    return std::move(text_);
  }

 private:
  struct Item {
    uint32_t node = 0;
    size_t indent = 0;
    Weight hidden = {};  // what callees that are left out have together
    size_t hidden_callees = 0;
    bool chained = false;  // the only callee of the line above, and in its column
  };

  [[nodiscard]] bool shown(uint32_t node) const {
    return profile_.share(profile_.tree.nodes[node].total.weight) >= options_.min_share;
  }

  // Children of a node onto the list of what is to come, the heaviest on top.
  void push(uint32_t node, size_t indent, bool chained = false) {
    std::vector<uint32_t> children;
    Item rest{.node = node, .indent = indent};
    for (const uint32_t child : profile_.tree.children_of(node)) {
      if (shown(child)) {
        children.push_back(child);
      } else {
        rest.hidden += profile_.tree.nodes[child].total;
        ++rest.hidden_callees;
      }
    }
    if (profile_.share(rest.hidden.weight) >= options_.min_share && rest.hidden.samples > 0)
      todo_.push_back(rest);
    std::stable_sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
      return profile_.tree.nodes[a].total.weight > profile_.tree.nodes[b].total.weight;
    });
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      todo_.push_back({.node = *child, .indent = indent, .chained = chained});
  }

  // The only callee, if it is the same function again.
  [[nodiscard]] uint32_t recursion(uint32_t node) const {
    const auto children = profile_.tree.children_of(node);
    if (children.size() != 1) return 0;
    return profile_.tree.nodes[children[0]].function == profile_.tree.nodes[node].function
               ? children[0]
               : 0;
  }

  [[nodiscard]] bool wide() const { return options_.columns >= kWideColumns; }
  [[nodiscard]] size_t figure_columns() const {
    return kTreeValueColumns - (wide() ? 0 : kSelfIntervalColumns);
  }

  // " 12.34 %  11.80–12.91 ", in 9 or 22 columns.
  [[nodiscard]] std::string share_cells(int64_t weight, bool with_interval) const {
    const double share = profile_.share(weight);
    std::string text = fmt::format("{:>6.2f} % ", 100 * share);
    if (with_interval)
      text += fmt::format("{:>12} ", interval_cell(share_interval(share, profile_.total)));
    return text;
  }

  void node_line(const Item& item) {
    uint32_t last = item.node;
    Weight self = profile_.tree.nodes[last].self;
    size_t times = 1;
    for (uint32_t next = recursion(last); next != 0; next = recursion(next)) {
      last = next;
      self += profile_.tree.nodes[last].self;
      ++times;
    }
    const CallNode& node = profile_.tree.nodes[item.node];
    const Function& function = profile_.function_of(node);
    const std::string figures =
        share_cells(node.total.weight, true) + share_cells(self.weight, wide()) + " ";
    std::string tail = times > 1 ? fmt::format(" ×{}", times) : "";
    if (const std::string_view kind = kind_text(function); !kind.empty() && !function.is_process)
      tail += fmt::format(" [{}]", kind);
    const size_t room = options_.columns - figure_columns() - column(item) - display_width(tail) -
                        (item.chained ? 2 : 0);
    text_ += figures + std::string(column(item), ' ') + (item.chained ? "↓ " : "") +
             styled(function.is_process ? Style::kHeading : Style::kName,
                    fit_name(printable(function.name), room), options_.colours) +
             styled(Style::kFaint, tail, options_.colours) + "\n";
    const bool only_calls = profile_.share(self.weight) < options_.min_share &&
                            shown_children(last) == 1 && !function.is_process;
    push(last, item.indent + (only_calls ? 0 : item.chained ? 4 : 2), only_calls);
  }

  void hidden_line(const Item& item) {
    text_ += pad(share_cells(item.hidden.weight, true), figure_columns() - 1) + " " +
             std::string(column(item), ' ') +
             styled(Style::kFaint, fmt::format("… {} more", format_count(item.hidden_callees)),
                    options_.colours) +
             "\n";
  }

  [[nodiscard]] size_t shown_children(uint32_t node) const {
    const auto children = profile_.tree.children_of(node);
    return static_cast<size_t>(
        std::count_if(children.begin(), children.end(), [&](uint32_t c) { return shown(c); }));
  }

  [[nodiscard]] size_t column(const Item& item) const {
    return std::min(item.indent, options_.columns - figure_columns() - kMinNameColumns);
  }

  const Profile& profile_;
  const ReportOptions& options_;
  std::string text_;
  std::vector<Item> todo_;
};

}  // namespace

Status write_tree_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  std::string text = profile_heading(profile, options) + TreeText(profile, options).write();
  text +=
      styled(Style::kFaint,
             fmt::format("Left out: what is below {:g} % (--min-share)", 100 * options.min_share),
             options.colours) +
      "\n";
  return print_to(options.out, text);
}

}  // namespace fathom
