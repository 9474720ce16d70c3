// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/duckdb_api.h"
#include "base/host.h"
#include "base/install.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "launch/cgroup.h"
#include "probe/probe.h"

namespace fathom {
namespace {

const char* state_name(Rung::State state) {
  if (state == Rung::State::kWorks) return "works";
  return state == Rung::State::kDegraded ? "degraded" : "cannot";
}

struct Section {
  std::string name;
  std::string summary;
  std::vector<Rung> rungs;
};

Rung file_rung(const char* name, const char* file, const char* lost) {
  Rung rung{name, Rung::State::kWorks, {}, {}};
  if (auto found = find_installed(file); !found.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = found.error().message + ": " + lost;
    rung.unlock = found.error().hint;
  }
  return rung;
}

Rung duckdb_rung() {
  Rung rung{"tables and SQL (libduckdb)", Rung::State::kWorks, {}, {}};
  if (auto api = duck_api(); !api.ok()) {
    rung.state = Rung::State::kCannot;
    rung.why = api.error().message + ": recordings stay journals, query cannot run";
    rung.unlock = api.error().hint;
  }
  return rung;
}

std::vector<Section> examine_all() {
  std::vector<Section> sections;
  sections.push_back(
      {"fathom",
       "the program itself",
       {file_rung("launcher (fathom-spawn)", "lib/fathom-spawn", "no command can be started"),
        duckdb_rung()}});
  for (const ProbeInfo& probe : all_probes())
    sections.push_back({probe.name, probe.summary, probe.examine()});
  return sections;
}

std::string as_json(const std::vector<Section>& sections, const HostFacts& host) {
  std::string json = fmt::format(
      "{{\n  \"host\": {}, \"kernel\": {}, \"virtualization\": {}, \"user\": {},\n  \"sections\": "
      "[",
      json_quote(host.name), json_quote(host.kernel), json_quote(host.virtualization),
      json_quote(host.user));
  std::string between = "\n    ";
  for (const Section& section : sections) {
    json += between + fmt::format("{{\"name\": {}, \"summary\": {}, \"rungs\": [",
                                  json_quote(section.name), json_quote(section.summary));
    std::string inner = "\n      ";
    for (const Rung& rung : section.rungs) {
      json +=
          inner + fmt::format("{{\"name\": {}, \"state\": \"{}\", \"why\": {}, \"unlock\": {}}}",
                              json_quote(rung.name), state_name(rung.state),
                              rung.why.empty() ? "null" : json_quote(rung.why),
                              rung.unlock.empty() ? "null" : json_quote(rung.unlock));
      inner = ",\n      ";
    }
    json += "]}";
    between = ",\n    ";
  }
  return json + "\n  ]\n}\n";
}

std::string as_text(const std::vector<Section>& sections, const HostFacts& host, bool colours) {
  std::string text = fmt::format("{} · kernel {} · {} cores · {} · virtualization {} · user {}\n",
                                 host.name, host.kernel, host.cores,
                                 format_bytes(host.memory_bytes), host.virtualization, host.user);
  for (const Section& section : sections) {
    text += "\n" + styled(Style::kHeading, section.name, colours) + "  " + section.summary + "\n";
    for (const Rung& rung : section.rungs) {
      const Style style = rung.state == Rung::State::kWorks      ? Style::kGood
                          : rung.state == Rung::State::kDegraded ? Style::kWarning
                                                                 : Style::kBad;
      text += "  " + styled(style, fmt::format("{:<9}", state_name(rung.state)), colours) +
              rung.name + "\n";
      if (!rung.why.empty()) text += "           why:    " + rung.why + "\n";
      if (!rung.unlock.empty()) text += "           unlock: " + rung.unlock + "\n";
    }
  }
  return text;
}

Status remove_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) return {};
  return Error{Code::kIo, "cannot remove " + folder + ": " + error.message(), ""};
}

Result<int> clean() {
  int found = 0, failures = 0;
  const auto remove_all = [&](const std::vector<std::string>& left, auto remove) -> Status {
    for (const std::string& folder : left) {
      ++found;
      if (auto removed = remove(folder); removed.ok()) {
        TRY(print_out("removed " + folder + "\n"));
      } else {
        log_failure(removed.error());
        ++failures;
      }
    }
    return {};
  };
  TRY(remove_all(leftover_cgroups(), remove_cgroup));
  for (const char* kind :
       {"spool", "app", "simulate"})  // programs may go on writing; nobody will read it
    TRY(remove_all(leftover_scratch_folders(kind), remove_folder));
  if (found == 0) TRY(print_out("nothing was left behind\n"));
  return failures == 0 ? 0 : kExitFailure;
}

Result<int> run_doctor(const Arguments& arguments) {
  if (arguments.has("clean")) return clean();
  const std::vector<Section> sections = examine_all();
  const HostFacts host = host_facts();
  TRY(print_out(arguments.has("json") ? as_json(sections, host)
                                      : as_text(sections, host, colours_wanted(STDOUT_FILENO))));
  return 0;
}

constexpr Flag kFlags[] = {
    {.name = "json", .help = "as JSON"},
    {.name = "clean",
     .help = "remove what killed runs left on this machine (cgroups, spools, sockets)"},
};

}  // namespace

extern constinit const Command kDoctorCommand = {
    .name = "doctor",
    .group = "Record",
    .summary = "Say what works on this machine, and what unlocks the rest",
    .description =
        "Tries each step of each probe for real and lets it go again. Where one cannot work it "
        "says why and the "
        "one command that unlocks it.\n\n"
        "    fathom doctor\n"
        "    fathom doctor --json\n"
        "    fathom doctor --clean",
    .flags = kFlags,
    .run = run_doctor,
};

}  // namespace fathom
