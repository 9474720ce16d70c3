// SPDX-License-Identifier: Apache-2.0
#include "cli/man.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "cli/prose.h"

namespace fathom {
namespace {

std::string title(std::string_view name) {
  return fmt::format(".TH {} 1 \"\" \"fathom {}\" \"User Commands\"\n", roff_escape(name),
                     kVersion);
}

std::string section(std::string_view name) { return fmt::format(".SH {}\n", name); }

std::string flag_entry(const Flag& flag) {
  std::string form;
  if (flag.letter != 0)
    form = fmt::format("\\fB\\-{}\\fR, ", roff_escape(std::string(1, flag.letter)));
  form += fmt::format("\\fB{}\\fR", roff_escape(fmt::format("--{}", flag.name)));
  if (flag.value != nullptr) form += fmt::format(" \\fI{}\\fR", roff_escape(flag.value));
  return fmt::format(".TP\n{}\n{}\n", form, roff_escape(full_help(flag)));
}

std::string positional_entry(const Positional& positional) {
  return fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff_escape(positional.name),
                     roff_escape(full_help(positional)));
}

std::string description(const Command& command) {
  std::string out;
  for (const Block& block : split_blocks(command.description)) {
    out += block.verbatim ? ".PP\n.RS 4\n.nf\n" : ".PP\n";
    for (const std::string& line : block.lines) out += roff_escape(line) + "\n";
    if (block.verbatim) out += ".fi\n.RE\n";
  }
  return out;
}

std::string own_flags(const Command& command) {
  std::string out;
  for (const Positional& positional : command.positionals) out += positional_entry(positional);
  for (const Flag& flag : command.flags) out += flag_entry(flag);
  return out;
}

std::string everywhere() {
  std::string out = section("GLOBAL FLAGS");
  for (const Flag& flag : global_flags()) out += flag_entry(flag);
  out += section("EXIT STATUS");
  out +=
      ".TP\n0\nIt worked.\n.TP\n1\nIt failed; stderr says what, and a hint says what to do.\n"
      ".TP\n2\nThe command line, or a value in it, is wrong.\n"
      ".PP\n\\fBrun\\fR returns the status of the program it runs, 128 and the signal where one "
      "ended it, "
      "and of its own:\n.TP\n124\nThe program took longer than its \\-\\-timeout.\n"
      ".TP\n125\nFathom itself failed, or the command line is wrong.\n"
      ".TP\n126\nThe program cannot be executed.\n.TP\n127\nThe program was not found.\n";
  out += section("ENVIRONMENT");
  return out + ".TP\nNO_COLOR\nWhere set and not empty, nothing is coloured.\n";
}

}  // namespace

std::string roff_escape(std::string_view text) {
  std::string out;
  bool line_start = true;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    if (line_start && (point.value == '.' || point.value == '\'')) out += "\\&";
    line_start = point.value == '\n';
    switch (point.value) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        if (point.value < 0x80) {
          out += static_cast<char>(point.value);
        } else {
          out += fmt::format("\\[u{:04X}]", static_cast<unsigned>(point.value));
        }
    }
  }
  return out;
}

std::string tool_man_page(CommandTable commands) {
  std::string out = title("FATHOM") + section("NAME");
  out += "fathom \\- where a program\\(aqs time, memory and I/O go\n";
  out += section("SYNOPSIS") + roff_escape(usage_line(Command{.name = ""})) + "\n";
  for (const CommandGroup& group : grouped_commands(commands)) {
    out += ".SH \"" + roff_escape(group.heading) + "\"\n";
    for (const Command* command : group.commands) {
      out += fmt::format(".SS {}\n{}.\n", roff_escape(usage_line(*command)),
                         roff_escape(command->summary));
      out += description(*command) + own_flags(*command);
    }
  }
  return out + everywhere();
}

std::string command_man_page(const Command& command) {
  const std::string name = fmt::format("fathom-{}", command.name);
  std::string upper = name;
  for (char& byte : upper) {
    if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
  }
  std::string out = title(upper) + section("NAME");
  out += fmt::format("{} \\- {}\n", roff_escape(name), roff_escape(command.summary));
  out += section("SYNOPSIS") + roff_escape(usage_line(command)) + "\n";
  std::string text = description(command);
  if (text.starts_with(".PP\n")) text.erase(0, 4);  // a section begins a paragraph by itself
  out += section("DESCRIPTION") + text;
  const std::string flags = own_flags(command);
  if (!flags.empty()) out += section("OPTIONS") + flags;
  return out + everywhere() + section("SEE ALSO") + ".BR fathom (1)\n";
}

}  // namespace fathom
