// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/proc.h"
#include "cli/complete.h"
#include "import/importer.h"
#include "probe/probe.h"
#include "report/named_queries.h"
#include "report/report.h"

namespace fathom {
namespace {

std::vector<std::string> command_names(CommandTable commands) {
  std::vector<std::string> names;
  for (const Command* command : commands) {
    if (!command->hidden) names.emplace_back(command->name);
  }
  return names;
}

std::vector<std::string> probe_names(CommandTable /*commands*/) {
  std::vector<std::string> names;
  for (const ProbeInfo& probe : all_probes()) names.emplace_back(probe.name);
  return names;
}

std::vector<std::string> format_names(CommandTable /*commands*/) {
  std::vector<std::string> names;
  for (const ReportInfo& report : all_reports()) names.emplace_back(report.name);
  return names;
}

// Those that may be attached to.
std::vector<std::string> process_ids(CommandTable /*commands*/) {
  std::vector<std::string> ids;
  for (const int64_t pid : list_ids("/proc").value_or({})) {
    const bool ours = pid != getpid() && read_proc_io(proc_folder(pid)).ok();
    const auto stat = read_proc_stat(proc_folder(pid));
    if (ours && stat.ok() && !stat.value().is_kernel_thread) ids.push_back(std::to_string(pid));
  }
  return ids;
}

std::vector<std::string> importer_names(CommandTable /*commands*/) {
  std::vector<std::string> names;
  for (const ImporterInfo& importer : all_importers()) names.emplace_back(importer.name);
  return names;
}

std::vector<std::string> query_names(CommandTable /*commands*/) {
  std::vector<std::string> names;
  for (const NamedQuery& query : named_queries()) names.emplace_back(query.name);
  return names;
}

struct Kind {
  std::string_view name;
  std::vector<std::string> (*list)(CommandTable commands);  // nullptr: the shell lists them
};

// One line a kind of word.
constexpr std::array kKinds = {
    Kind{"file", nullptr},
    Kind{"folder", nullptr},
    Kind{"run", nullptr},
    Kind{"run-or-query", query_names},  // beside the folders that the shell lists
    Kind{"command", command_names},
    Kind{"probe", probe_names},
    Kind{"format", format_names},
    Kind{"foreign-format", importer_names},
    Kind{"pid", process_ids},
};

}  // namespace

bool is_completion_kind(std::string_view kind) {
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [kind](const Kind& known) { return known.name == kind; });
}

std::vector<std::string> completion_words(CommandTable commands, std::string_view kind) {
  for (const Kind& known : kKinds) {
    if (known.name == kind && known.list != nullptr) return known.list(commands);
  }
  return {};
}

}  // namespace fathom
