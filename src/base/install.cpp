// SPDX-License-Identifier: Apache-2.0
#include "base/install.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace fathom {

Result<std::string> find_installed(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path home;
  if (const char* set = std::getenv("FATHOM_HOME"); set != nullptr) {
    home = set;
  } else {
    home = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  }
  const fs::path path = home / name;
  if (access(path.c_str(), R_OK) == 0) return path.string();
  return Error{Code::kNotFound, path.string() + " is missing",
               "fathom's bin and lib folders belong together; set FATHOM_HOME to the folder that "
               "holds them"};
}

}  // namespace fathom
