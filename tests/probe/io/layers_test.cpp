// SPDX-License-Identifier: Apache-2.0
#include "probe/io/layers.h"

#include <gtest/gtest.h>

#include <set>

#include "probe/io/kernel_layers.h"
#include "probe/io/system_calls.h"

namespace fathom {
namespace {

TEST(Layers, AreChosenByName) {
  const auto usual = layers_from("");
  ASSERT_TRUE(usual.ok());
  EXPECT_TRUE(usual.value().has("c"));
  EXPECT_TRUE(usual.value().has("sys"));
  EXPECT_FALSE(usual.value().has("ext4"));
  EXPECT_EQ(layers_from("sys,block,sys").value().names, (std::vector<std::string>{"sys", "block"}));
  EXPECT_EQ(layers_from("all").value().names.size(), io_layers().size());
  EXPECT_FALSE(layers_from("c").value().any_of_kernel());
  EXPECT_TRUE(layers_from("c,vfs").value().any_of_kernel());
}

TEST(Layers, AWrongNameIsSuggestedARightOne) {
  EXPECT_EQ(layers_from("blok").error().hint, "did you mean block?");
  EXPECT_NE(layers_from("nothing at all").error().hint.find("os_cache"), std::string::npos);
}

TEST(Layers, EveryProgramBelongsToOne) {
  std::set<std::string> programs;
  for (const KernelProgram& program : kernel_programs()) {
    EXPECT_TRUE(programs.insert(program.program).second) << program.program;
    if (*program.layer == 0) continue;
    EXPECT_TRUE(layers_from(program.layer).ok()) << program.layer;
  }
}

TEST(Layers, EveryNumberIsOneFunction) {
  std::vector<KernelFunction> functions(kWireFunctions);
  name_layer_functions(functions);
  std::set<std::pair<std::string, std::string>> names;
  for (const KernelFunction& function : functions) {
    if (function.name.empty()) continue;
    EXPECT_TRUE(names.emplace(function.layer, function.name).second) << function.name;
    EXPECT_TRUE(layers_from(function.layer).ok()) << function.layer;
  }
  EXPECT_EQ(functions[kUringFirst + 22].name, "read");
}

TEST(SystemCalls, EachIsListedOnce) {
  std::set<long> numbers;
  for (const SystemCall& call : system_calls()) {
    EXPECT_TRUE(numbers.insert(call.number).second) << call.name;
    EXPECT_LT(call.number, kWireSystemCalls) << call.name;
    EXPECT_LT(call.rule.fd_argument, 6) << call.name;
  }
}

}  // namespace
}  // namespace fathom
