// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/text.h"
#include "report/panel_specs.h"

namespace fathom {
namespace {

constexpr size_t kMostApplicationPanels = 40;
constexpr size_t kMostMarks = 500;
constexpr size_t kMostContainers = 12;  // drawn
constexpr std::string_view kContainer = "container ";
constexpr std::string_view kAddsUp = "_total";  // the end of such a name

bool of_resources(std::string_view scope) {
  return scope == "tree" || scope == "cgroup" || scope == "host";
}

// Follows one figure, or the sum of two that add up and are taken together.
class Follower {
 public:
  Follower(bool adds_up, size_t parts, double factor, int64_t length_ns, int64_t shortest_ns)
      : adds_up_(adds_up),
        factor_(factor),
        length_ns_(length_ns),
        shortest_ns_(shortest_ns),
        level_(length_ns),
        totals_(parts, Looks(length_ns)) {}

  void add(size_t part, int64_t time_ns, double value) {
    if (adds_up_) {
      totals_[part].add({time_ns, value * factor_});
    } else {
      level_.add(time_ns, value * factor_);
    }
  }

  [[nodiscard]] std::vector<CurvePoint> points() const {
    if (!adds_up_) return level_.points();
    RateBuilder rate(length_ns_, shortest_ns_);
    const std::vector<Look> others = totals_.back().by_time();
    auto other = others.begin();
    for (Look look : totals_.front().by_time()) {
      if (totals_.size() > 1) {
        while (other != others.end() && other->time_ns < look.time_ns) ++other;
        if (other == others.end() || other->time_ns != look.time_ns) continue;
        look.total += other->total;
      }
      rate.add(look);
    }
    return rate.points();
  }

 private:
  bool adds_up_;
  double factor_;
  int64_t length_ns_, shortest_ns_;
  CurveBuilder level_;
  std::vector<Looks> totals_;
};

class TimelineBuilder {
  using Places = std::vector<std::pair<Follower*, size_t>>;  // a figure, and which part of it

 public:
  explicit TimelineBuilder(const Summary& summary)
      : length_ns_(summary.duration_ns),
        start_ns_(summary.run().start_ns),
        shortest_ns_(summary.run().interval_ns.value_or(0) / 4) {
    for (const PanelSpec& panel : panel_specs()) {
      for (const CurveSpec& spec : panel.curves) {
        if (spec.label == nullptr) continue;
        const bool adds_up = std::string_view(spec.name).ends_with(kAddsUp);
        Follower& follower = followers_.emplace_back(adds_up, spec.added == nullptr ? 1 : 2,
                                                     panel.factor, length_ns_, shortest_ns_);
        by_gauge_[key(spec.scope, spec.name)].push_back({&follower, 0});
        if (spec.added != nullptr) by_gauge_[key(spec.scope, spec.added)].push_back({&follower, 1});
      }
    }
  }

  void add(const Batch& batch) {
    std::map<std::pair<StringId, StringId>, const Places*> known;
    for (const Gauge& gauge : batch.rows.of<Gauge>()) {
      const auto*& followers = known[{gauge.scope, gauge.name}];
      if (followers == nullptr) followers = &find(batch.dictionary, gauge);
      for (const auto& [follower, part] : *followers)
        follower->add(part, gauge.time_ns - start_ns_, gauge.value);
    }
  }

  void finish(const Summary& summary, Timeline& timeline) const {
    add_resources(summary, timeline);
    add_containers(timeline);
    for (const Application& told : applications_) {
      timeline.panels.push_back({.title = told.title,
                                 .unit = told.unit,
                                 .curves = {{told.title, told.follower->points()}},
                                 .from_application = true});
    }
    if (not_shown_ > 0)
      timeline.notes.push_back(
          fmt::format("{} more figures are in the table gauges.", format_count(not_shown_)));
  }

 private:
  struct Application {
    std::string title, unit;
    const Follower* follower;
  };

  struct Container {
    Follower *cpu, *memory;
  };

  static std::string key(std::string_view scope, std::string_view name) {
    return std::string(scope) + '\0' + std::string(name);
  }

  void add_resources(const Summary& summary, Timeline& timeline) const {
    auto follower = followers_.begin();
    bool before = true;
    std::string idle;
    for (const PanelSpec& spec : panel_specs()) {
      Panel panel{.title = spec.title, .unit = spec.unit};
      for (const CurveSpec& curve : spec.curves) {
        if (curve.label == nullptr) continue;
        Curve made{curve.label, (follower++)->points()};
        if (panel.unit == "%") keep_within_time(made);
        if (!made.points.empty()) panel.curves.push_back(std::move(made));
      }
      const bool wanted = !panel.curves.empty() && !(spec.instead && before);
      before = !panel.curves.empty();
      if (!wanted) continue;
      if (nothing_but_zero(panel)) {
        idle += (idle.empty() ? "" : ", ") + panel.title;
        continue;
      }
      if (panel.unit == "cores" && summary.run().cores) {
        panel.limit = static_cast<double>(*summary.run().cores);
        panel.limit_label = fmt::format("{} cores", *summary.run().cores);
      }
      timeline.panels.push_back(std::move(panel));
    }
    if (!idle.empty()) timeline.notes.push_back("Measured, and 0 all the time: " + idle + ".");
  }

  // Of several containers, a curve each in panels of all.
  void add_containers(Timeline& timeline) const {
    Panel cpu{.title = "CPU of each container", .unit = "cores"};
    Panel memory{.title = "Memory of each container", .unit = "bytes"};
    for (const auto& [name, container] : containers_) {
      cpu.curves.push_back({name, container.cpu->points()});
      memory.curves.push_back({name, container.memory->points()});
    }
    for (Panel* panel : {&cpu, &memory})
      if (!panel->curves.empty()) timeline.panels.push_back(std::move(*panel));
  }

  void follow_container(const std::string& container, std::string_view name, Places& places) {
    if (!containers_.contains(container)) {
      if (containers_.size() == kMostContainers) return;
      Container made{};
      made.cpu = &followers_.emplace_back(true, 2, 1e-9, length_ns_, shortest_ns_);
      made.memory = &followers_.emplace_back(false, 1, 1, length_ns_, shortest_ns_);
      containers_[container] = made;
    }
    const Container& known = containers_[container];
    if (name == "cpu_user_total") places.push_back({known.cpu, 0});
    if (name == "cpu_system_total") places.push_back({known.cpu, 1});
    if (name == "memory") places.push_back({known.memory, 0});
  }

  // Of stalled time, which the kernel counts with a clock that is not the one of our looks.
  static void keep_within_time(Curve& curve) {
    for (CurvePoint& point : curve.points) {
      for (double* value : {&point.least, &point.value, &point.most})
        *value = std::min(*value, 100.0);
    }
  }

  static bool nothing_but_zero(const Panel& panel) {
    return std::all_of(panel.curves.begin(), panel.curves.end(), [](const Curve& curve) {
      return std::all_of(curve.points.begin(), curve.points.end(),
                         [](const CurvePoint& point) { return point.most == 0; });
    });
  }

  const Places& find(const Dictionary& names, const Gauge& gauge) {
    const std::string_view scope = names.text(gauge.scope), name = names.text(gauge.name);
    const auto [entry, added] = by_gauge_.try_emplace(key(scope, name));
    if (!added || of_resources(scope)) return entry->second;
    if (scope.starts_with(kContainer)) {
      follow_container(std::string(scope.substr(kContainer.size())), name, entry->second);
      return entry->second;
    }
    if (applications_.size() == kMostApplicationPanels) {
      ++not_shown_;
      return entry->second;
    }
    const bool adds_up = name.ends_with(kAddsUp);
    std::string unit(names.text(gauge.unit));
    if (adds_up) unit += "/s";
    const Follower& follower = followers_.emplace_back(adds_up, 1, 1, length_ns_, shortest_ns_);
    entry->second.push_back({&followers_.back(), 0});
    const std::string_view figure = adds_up ? name.substr(0, name.size() - kAddsUp.size()) : name;
    const std::string title =
        scope == "app" ? std::string(figure) : fmt::format("{} {}", scope, figure);
    applications_.push_back({title, unit, &follower});
    return entry->second;
  }

  int64_t length_ns_, start_ns_, shortest_ns_;
  std::deque<Follower> followers_;
  std::map<std::string, Places> by_gauge_;
  std::vector<Application> applications_;
  std::map<std::string, Container> containers_;
  size_t not_shown_ = 0;
};

void add_marks(const Batch& batch, int64_t start_ns, Timeline& timeline, size_t& left_out) {
  for (const Mark& mark : batch.rows.of<Mark>()) {
    if (timeline.marks.size() == kMostMarks) {
      ++left_out;
      continue;
    }
    timeline.marks.push_back({std::clamp<int64_t>(mark.time_ns - start_ns, 0, timeline.length_ns),
                              std::string(batch.dictionary.text(mark.text))});
  }
}

}  // namespace

Result<Timeline> load_timeline(const Recording& recording, const Summary& summary) {
  Timeline timeline;
  timeline.length_ns = summary.duration_ns;
  TimelineBuilder builder(summary);
  size_t marks_left_out = 0;
  CallLanesBuilder calls(summary.run().start_ns);
  TRY(recording.read(tables_of<Gauge, Mark, Span>(), [&](const Batch& batch) -> Status {
    builder.add(batch);
    calls.add(batch);
    add_marks(batch, summary.run().start_ns, timeline, marks_left_out);
    return {};
  }));
  builder.finish(summary, timeline);
  std::stable_sort(
      timeline.marks.begin(), timeline.marks.end(),
      [](const TimelineMark& a, const TimelineMark& b) { return a.time_ns < b.time_ns; });
  if (marks_left_out > 0)
    timeline.notes.push_back(
        fmt::format("{} more marks are in the table marks.", format_count(marks_left_out)));
  timeline.lanes = lay_out_processes(summary);
  timeline.calls = calls.finish();
  if (timeline.calls.left_out > 0)
    timeline.notes.push_back(fmt::format("{} shorter calls are in the table spans.",
                                         format_count(timeline.calls.left_out)));
  return timeline;
}

}  // namespace fathom
