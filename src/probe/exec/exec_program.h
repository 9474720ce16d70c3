// SPDX-License-Identifier: Apache-2.0
// A program beside the target that prints figures: started through the shell in a process group of
// its own, read line by line, ended with its whole group. What it says on stderr is kept apart from
// the target's; the last of it explains a failure. Belongs to the recorder's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/line_buffer.h"

namespace fathom {

class ExecProgram {
 public:
  // `environment` is NAME=VALUE over the recorder's own.
  static Result<std::unique_ptr<ExecProgram>> start(const std::string& command,
                                                    const std::vector<std::string>& environment);
  ~ExecProgram();
  ExecProgram(const ExecProgram&) = delete;
  ExecProgram& operator=(const ExecProgram&) = delete;

  // Become readable when it says something.
  [[nodiscard]] int output_fd() const { return output_.get(); }
  [[nodiscard]] int error_fd() const { return errors_.get(); }

  using Take = std::function<void(std::string_view line)>;
  // Reads what is there, as much as a pipe holds. Returns whether there was anything.
  bool read(const Take& take);
  [[nodiscard]] bool has_ended() const;
  // Ends it: asks, waits a moment, kills; then reads what it still said.
  void end(const Take& take);

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] int64_t too_long() const { return lines_.too_long(); }
  [[nodiscard]] int64_t cpu_ns() const { return cpu_ns_; }  // once it has ended
  // How it failed before it was ended; empty: it did not.
  [[nodiscard]] std::string failure() const;

 private:
  explicit ExecProgram(std::string command) : command_(std::move(command)) {}
  Status spawn(const std::vector<std::string>& environment);
  void reap();
  void keep_words(std::string_view bytes);

  std::string command_;
  Fd output_, errors_;
  pid_t pid_ = -1;
  LineBuffer lines_;
  std::string words_;          // the last it said on stderr
  bool ended_before_ = false;  // by itself
  int status_ = 0;             // as wait(2)
  int64_t cpu_ns_ = 0;
};

}  // namespace fathom
