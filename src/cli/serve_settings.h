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
  std::string legacy_clients;  // address ranges with commas between; empty: the default
  bool creates_token = false;  // where one is needed and none was given
};
// The address of the store. `flag` is what --store says, which other users see in the process list:
// a password in it is rejected. It comes from `password_file` or FATHOM_REDIS_PASSWORD, or is part
// of `elsewhere`, the address from the environment or a file, which is used where `flag` is empty.
Result<std::string> store_address(const std::string& flag, const std::string& elsewhere,
                                  const std::string& password_file);

// Binds, warns, serves until it is told to end.
Result<int> serve_as(const ServePlan& plan);

}  // namespace fathom
