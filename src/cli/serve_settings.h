// SPDX-License-Identifier: Apache-2.0
// How a hub is set up: by flags, else environment variables (FATHOM_SERVE_PORT for --port), else a
// file of `name = value` lines, else the defaults. One thread.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "hub/hub.h"

namespace fathom {

class ServeSettings {
 public:
  // `names` are the flags that a file may set.
  static Result<ServeSettings> load(const Arguments& arguments);
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] Result<int64_t> number(const std::string& name, int64_t least, int64_t most) const;
  [[nodiscard]] Result<int64_t> duration(const std::string& name) const;

 private:
  explicit ServeSettings(const Arguments& arguments) : arguments_(&arguments) {}
  Status read_file(const std::string& path);
  const Arguments* arguments_;
  std::map<std::string, std::string> from_file_;
};

struct ServePlan {
  HubOptions hub;
  std::string bind, port;
};
// Binds, warns, serves until it is told to end.
Result<int> serve_as(const ServePlan& plan);

}  // namespace fathom
