// SPDX-License-Identifier: Apache-2.0
// Finds processes of the target into which the library did not come, and why: static and setuid
// programs, those of another C library, and those that were started without the environment.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "launch/launcher.h"
#include "spool/spool_folder.h"

namespace fathom {

class Coverage {
 public:
  // At every tick; what lives shorter is not seen here.
  void look(const Target& target, const SpoolFolder& folder);
  // For people; empty: all that was seen is covered.
  [[nodiscard]] std::string text() const;

 private:
  void note(const std::string& process, const std::string& reason);

  using Image = std::pair<int64_t, std::string>;  // pid and program
  std::set<Image> judged_;
  std::map<std::string, std::set<std::string>> missing_;  // names of programs by reason
};

}  // namespace fathom
