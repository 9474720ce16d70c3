// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "base/duckdb_api.h"
#include "base/fd.h"
#include "base/host.h"
#include "base/install.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "base/text_wrap.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/leftovers.h"
#include "cli/terminal.h"
#include "launch/container/engine.h"
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

Rung engine_rung() {
  Rung rung{"container engine", Rung::State::kWorks, {}, {}};
  if (const auto engine = Engine::open(); engine.ok()) {
    rung.name += ": " + printable(engine.value().version().name) + ", API " + engine.value().api() +
                 ", " + engine.value().socket();
  } else {
    rung.state = Rung::State::kCannot;
    rung.why = engine.error().message;
    rung.unlock = engine.error().hint;
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
  sections.push_back(
      {"container",
       "images, by run --image",
       {file_rung("first process (fathom-hold)", "lib/fathom-hold", "no container can be started"),
        engine_rung()}});
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

// As it is where it fits behind `used` columns, else wrapped below itself.
std::string within(std::string_view text, size_t used, size_t columns) {
  return (used + display_width(text) <= columns ? std::string(text) : wrap(text, columns, used)) +
         "\n";
}

// Lists such as a,b,c may go on in the next line.
std::string name_within(const std::string& name, size_t used, size_t columns) {
  if (used + display_width(name) <= columns) return name + "\n";
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    text += name[i];
    if (name[i] == ',' && i + 1 < name.size() && name[i + 1] != ' ') text += ' ';
  }
  return within(text, used, columns);
}

std::string as_text(const std::vector<Section>& sections, const HostFacts& host, bool colours,
                    size_t columns) {
  std::string text =
      within(fmt::format("{} · kernel {} · {} cores · {} · virtualization {} · user {}", host.name,
                         host.kernel, host.cores, format_bytes(host.memory_bytes),
                         host.virtualization, host.user),
             0, columns);
  for (const Section& section : sections) {
    text += "\n" + styled(Style::kHeading, section.name, colours) + "  " +
            within(section.summary, display_width(section.name) + 2, columns);
    for (const Rung& rung : section.rungs) {
      const Style style = rung.state == Rung::State::kWorks      ? Style::kGood
                          : rung.state == Rung::State::kDegraded ? Style::kWarning
                                                                 : Style::kBad;
      text += "  " + styled(style, fmt::format("{:<9}", state_name(rung.state)), colours) +
              name_within(rung.name, 11, columns);
      if (!rung.why.empty()) text += "           why:    " + within(rung.why, 19, columns);
      if (!rung.unlock.empty()) text += "           unlock: " + within(rung.unlock, 19, columns);
    }
  }
  return text;
}

struct Cleaned {
  std::vector<std::string> left, in_use, removed;
  std::vector<Error> failed;
};

std::string json_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(json_quote(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string as_json(const Cleaned& cleaned) {
  std::vector<std::string> failed;
  for (const Error& error : cleaned.failed) failed.push_back(error.message);
  return fmt::format("{{\"left\": {}, \"in_use\": {}, \"removed\": {}, \"failed\": {}}}\n",
                     json_list(cleaned.left), json_list(cleaned.in_use), json_list(cleaned.removed),
                     json_list(failed));
}

std::string listed(const char* heading, const std::vector<std::string>& names) {
  std::string text = names.empty() ? "" : std::string(heading) + "\n";
  for (const std::string& name : names) text += "  " + name + "\n";
  return text;
}

Result<bool> confirm(size_t count) {
  if (isatty(STDIN_FILENO) == 0)
    return Error{Code::kInvalid, "nothing was removed: standard input is not a terminal",
                 "pass --yes to confirm: fathom doctor --clean --yes"};
  TRY(write_all(STDERR_FILENO,
                fmt::format("Remove {}? [y/N] ", count == 1 ? "it" : "all of them")));
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

void remove_all(std::vector<Leftover>& found, Cleaned& cleaned) {
  for (Leftover& one : found) {
    if (!one.used_by.empty()) continue;
    if (auto removed = one.remove(); removed.ok())
      cleaned.removed.push_back(one.name);
    else
      cleaned.failed.push_back(std::move(removed).error());
  }
}

// Lists what recorders that no longer run left, asks, and removes what no running process uses.
Result<int> clean(bool json, bool yes) {
  Leftovers left = find_leftovers();
  Cleaned cleaned;
  cleaned.failed = std::move(left.failed);
  for (const Leftover& one : left.found) {
    if (one.used_by.empty())
      cleaned.left.push_back(one.name);
    else
      cleaned.in_use.push_back(one.name + ", used by " + one.used_by);
  }
  if (!json)
    TRY(print_out(listed("Left by recorders that no longer run:", cleaned.left) +
                  listed("Not removed, in use by a running process:", cleaned.in_use)));
  if (!cleaned.left.empty()) {
    // In JSON without --yes the list is the result.
    bool sure = yes;
    if (!yes && !json) {
      TRY_ASSIGN(sure, confirm(cleaned.left.size()));
    }
    if (sure) remove_all(left.found, cleaned);
    if (!sure && !json) return kExitFailure;
  }
  std::string text;
  for (const std::string& what : cleaned.removed) text += "removed " + what + "\n";
  if (left.found.empty() && cleaned.failed.empty()) text = "nothing was left behind\n";
  TRY(print_out(json ? as_json(cleaned) : text));
  for (const Error& error : cleaned.failed) log_failure(error);
  return cleaned.failed.empty() ? 0 : kExitFailure;
}

Result<int> run_doctor(const Arguments& arguments) {
  if (arguments.has("clean")) return clean(arguments.has("json"), arguments.has("yes"));
  const std::vector<Section> sections = examine_all();
  const HostFacts host = host_facts();
  TRY(print_out(arguments.has("json")
                    ? as_json(sections, host)
                    : as_text(sections, host, colours_wanted(STDOUT_FILENO), output_columns())));
  return 0;
}

constexpr Flag kDoctorFlags[] = {
    {.name = "json", .help = "as JSON"},
    {.name = "clean",
     .help =
         "list what killed recorders left on this machine (containers, cgroups, spools, sockets) "
         "and remove it once confirmed; what a running process uses stays"},
    {.name = "yes", .letter = 'y', .help = "with --clean: remove without asking"},
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
        "    fathom doctor --clean\n"
        "    fathom doctor --clean --yes",
    .flags = kDoctorFlags,
    .run = run_doctor,
};

}  // namespace fathom
