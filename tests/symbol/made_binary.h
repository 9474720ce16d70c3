// SPDX-License-Identifier: Apache-2.0
// Small binaries made by the machine's own tools, for tests that compare with what those say.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/fd.h"
#include "base/subprocess.h"
#include "support/temp_folder.h"

namespace fathom {

inline bool shell(const std::string& command) {
  const auto done = run_to_end({"/bin/sh", "-c", command});
  return done.ok() && done.value().status == 0;
}

constexpr const char* kMadeSource = R"(
#include <stdio.h>
#include <math.h>
__attribute__((noinline)) static int hidden_one(int x) { return puts("one") + x * 3; }
__attribute__((noinline)) int shown_two(int x) { return hidden_one(x) + printf("%d", x); }
extern int alias_of_two(int) __attribute__((alias("shown_two")));
__asm__(".text\n.globl unsized\nunsized:\n nop\n nop\n ret\n.globl after_unsized\n"
        ".type after_unsized,@function\nafter_unsized:\n nop\n ret\n.size after_unsized, 2\n");
int main(int argc, char** argv) { (void)argv; return shown_two(argc); }
)";

// folder/made: not stripped, with debug information and a build id.
inline bool make_binary(const TempFolder& folder, const std::string& options = "") {
  return write_file(folder / "made.c", kMadeSource).ok() &&
         shell("cc -g -O1 -Wl,--build-id=sha1 " + options + " -o " + (folder / "made") + " " +
               (folder / "made.c") + " -lm");
}

// nm's sized functions: address to size and names.
struct NmEntry {
  uint64_t size = 0;
  std::set<std::string> names;
};
inline std::map<uint64_t, NmEntry> nm_functions(const std::string& path, const TempFolder& folder,
                                                const std::string& options = "") {
  std::map<uint64_t, NmEntry> functions;
  const std::string list = folder / "nm.txt";
  EXPECT_TRUE(shell("nm -S --defined-only " + options + " " + path + " >" + list));
  std::istringstream lines(read_file(list).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, size, type, name;
    if (!(words >> address >> size >> type >> name)) continue;
    if (std::string("tTwWi").find(type) == std::string::npos) continue;
    NmEntry& entry = functions[std::stoull(address, nullptr, 16)];
    entry.size = std::max<uint64_t>(entry.size, std::stoull(size, nullptr, 16));
    entry.names.insert(name.substr(0, name.find('@')));
  }
  return functions;
}

}  // namespace fathom
