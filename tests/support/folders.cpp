// SPDX-License-Identifier: Apache-2.0
#include "support/folders.h"

namespace fathom {

const std::string& source_folder() {
  static const std::string folder = FATHOM_SOURCE_DIR;
  return folder;
}

const std::string& test_data() {
  static const std::string folder = source_folder() + "/tests/data";
  return folder;
}

const std::string& build_folder() {
  static const std::string folder = FATHOM_BUILD_DIR;
  return folder;
}

}  // namespace fathom
