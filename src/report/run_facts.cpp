// SPDX-License-Identifier: Apache-2.0
#include "report/run_facts.h"

#include <fmt/format.h>
#include <string.h>

#include "base/text.h"
#include "report/label_lines.h"

namespace fathom {
namespace {

// It ran before and goes on: its exit status is known only if it ended meanwhile.
bool attached(const Summary& summary) {
  return summary.text(summary.run().launcher).starts_with("attach");
}

std::string ending(const Summary& summary) {
  const Run& run = summary.run();
  const std::string_view reason = summary.text(run.end_reason);
  if (imported(summary)) return "imported";
  if (!run.end_ns) return "end not recorded";
  std::string text;
  if (run.exit_status) text = fmt::format("exit {}", *run.exit_status);
  if (run.exit_signal) {
    const char* name = sigabbrev_np(static_cast<int>(*run.exit_signal));
    text = name != nullptr ? fmt::format("killed by SIG{}", name)
                           : fmt::format("killed by signal {}", *run.exit_signal);
  }
  if (reason == "duration") text = "ended after its --duration";
  if (reason == "timeout") text = "timed out, " + text;
  if (reason == "interrupted") text = "interrupted, " + text;
  if (attached(summary) && !run.exit_status && !run.exit_signal)
    text = reason == "ended"     ? "it ended"
           : reason == "timeout" ? "it runs past --timeout"
                                 : "it goes on";
  return text;
}

}  // namespace

bool imported(const Summary& summary) {
  return summary.text(summary.run().launcher).starts_with("import");
}

bool ended_well(const Summary& summary) {
  const Run& run = summary.run();
  const bool unharmed = attached(summary) && !run.exit_signal && !run.exit_status;
  return imported(summary) || unharmed || run.exit_status.value_or(1) == 0 ||
         summary.text(run.end_reason) == "duration";
}

std::vector<std::string> run_facts(const Summary& summary) {
  const Run& run = summary.run();
  std::vector<std::string> facts = {ending(summary)};
  const bool timed = run.end_ns || summary.duration_ns > 0;
  facts.push_back(timed               ? format_duration_ns(summary.duration_ns)
                  : imported(summary) ? "without times"
                                      : "duration not recorded");
  const auto processes =
      run.processes.value_or(static_cast<int64_t>(summary.tables->rows.of<Process>().size()));
  if (processes > 0) facts.push_back(plural(processes, "process", "processes"));
  if (run.threads.value_or(0) > processes)
    facts.back() += ", " + plural(*run.threads, "thread", "threads");
  return facts;
}

}  // namespace fathom
