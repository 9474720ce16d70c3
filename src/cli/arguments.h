// SPDX-License-Identifier: Apache-2.0
// What the user typed for one command, already checked against the command's flags. Made by
// parse.h, read by the command. Asking for a flag that the command does not declare is a bug of
// ours and aborts. Plain value: read from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct Command;

class Arguments {
 public:
  explicit Arguments(const Command& command) : command_(&command) {}

  [[nodiscard]] const Command& command() const { return *command_; }
  // Typed by the user: a fallback does not count.
  [[nodiscard]] bool has(std::string_view flag) const;
  // The value, else the fallback, else "".
  [[nodiscard]] std::string text(std::string_view flag) const;
  // All values of a repeatable flag, else the fallback, else none.
  [[nodiscard]] std::vector<std::string> texts(std::string_view flag) const;
  // The same with every value split at its commas.
  [[nodiscard]] std::vector<std::string> list(std::string_view flag) const;

  // The value read as what it should be; the error names the flag.
  [[nodiscard]] Result<int64_t> duration(std::string_view flag) const;  // nanoseconds
  [[nodiscard]] Result<int64_t> number(std::string_view flag) const;
  [[nodiscard]] Result<double> real(std::string_view flag) const;

  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  // The positional at this place, or "".
  [[nodiscard]] std::string positional(size_t place) const;
  // The program to run and its arguments, for Rest::kProgram.
  [[nodiscard]] const std::vector<std::string>& program() const { return program_; }

  // For the parser.
  void add(std::string_view flag, std::vector<std::string> values);
  void set_positionals(std::vector<std::string> words) { positionals_ = std::move(words); }
  void set_program(std::vector<std::string> words) { program_ = std::move(words); }

 private:
  const Command* command_;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::vector<std::string> positionals_;
  std::vector<std::string> program_;
};

}  // namespace fathom
