// SPDX-License-Identifier: Apache-2.0
#include "report/program_names.h"

#include <algorithm>

#include "report/frame_name.h"

namespace fathom {
namespace {

constexpr size_t kMostNames = 3;

const Process* first_of(const Collected& tables) {
  const std::vector<Process>& processes = tables.rows.of<Process>();
  const auto first =
      std::min_element(processes.begin(), processes.end(),
                       [](const Process& a, const Process& b) { return a.start_ns < b.start_ns; });
  return first == processes.end() ? nullptr : &*first;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : "|") + names[i];
  return names.size() > kMostNames ? text + "|…" : text;
}

}  // namespace

ProgramNames::ProgramNames(const SourceTables& tables, bool compared) {
  std::vector<std::string> files;
  for (const auto& of_run : tables) {
    const Process* first = first_of(*of_run);
    Program& program = programs_.emplace_back();
    if (first == nullptr) continue;
    program.process = of_run->text(first->name);
    program.file = base_name(of_run->text(first->exe));
    if (std::find(files.begin(), files.end(), program.file) == files.end())
      files.push_back(program.file);
  }
  if (!compared || files.size() < 2) return;  // the name of the file says it
  for (size_t source = 0; source < tables.size(); ++source)
    if (!is_apart(tables, source)) return;
  shared_ = join_names(files);
}

// No other run has a process of that name, but what it began with itself.
bool ProgramNames::is_apart(const SourceTables& tables, size_t source) const {
  const Program& own = programs_[source];
  if (own.file.empty()) return false;
  for (size_t other = 0; other < tables.size(); ++other) {
    if (programs_[other].process == own.process) continue;
    for (const Process& process : tables[other]->rows.of<Process>())
      if (tables[other]->text(process.name) == own.process) return false;
  }
  return true;
}

std::string ProgramNames::module(size_t source, std::string_view path) const {
  const std::string_view file = base_name(path);
  const bool is_first = !shared_.empty() && file == programs_[source].file;
  return is_first ? shared_ : std::string(file);
}

const std::string& ProgramNames::first_process(size_t source) const {
  return programs_[source].process;
}

}  // namespace fathom
