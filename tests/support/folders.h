// SPDX-License-Identifier: Apache-2.0
// Where the checkout and the build are. Only folders.cpp is compiled with their names, so that a
// second clone finds all other tests in ccache.
#pragma once

#include <string>

namespace fathom {

const std::string& test_data();  // tests/data
const std::string& source_folder();
const std::string& build_folder();  // holds bin/, lib/ and workloads/

}  // namespace fathom
