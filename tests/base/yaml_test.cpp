// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Yaml, IsATreeOfMapsListsAndWords) {
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - {c: 'two words', d: [1, 2]}\n# nothing\n");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root.value().find("a")->text, "1");
  const YamlNode& list = *root.value().find("b");
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[1].find("c")->text, "two words");
  EXPECT_EQ(list.items[1].find("d")->items.size(), 2U);
  EXPECT_EQ(list.items[1].line, 4U);
  EXPECT_EQ(root.value().find("z"), nullptr);
  EXPECT_TRUE(parse_yaml("").value().members.empty());
}

TEST(Yaml, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_NE(parse_yaml("a: 1\nb: [1").error().message.find("line"), std::string::npos);
  EXPECT_NE(parse_yaml("a: 1\na: 2").error().message.find("line 2: a stands twice"),
            std::string::npos);
  EXPECT_NE(parse_yaml("a: &x [1]\nb: *x").error().message.find("aliases"), std::string::npos);
  EXPECT_NE(parse_yaml("? [a]\n: b").error().message.find("key"), std::string::npos);
  EXPECT_NE(parse_yaml("a: 1\n---\nb: 2").error().message.find("second"), std::string::npos);
}

TEST(Yaml, HostileTextIsAnErrorAndNoCrash) {
  EXPECT_FALSE(parse_yaml(std::string(40, '[')).ok());
  EXPECT_FALSE(parse_yaml(std::string(5'000, '[') + std::string(5'000, ']')).ok());
  EXPECT_FALSE(parse_yaml(std::string("a: \xff\xfe\x01")).ok());
  EXPECT_FALSE(parse_yaml(std::string_view("a\0b: 1", 6)).ok());
  EXPECT_FALSE(parse_yaml(std::string((1 << 20) + 1, ' ')).ok());
  std::string many;
  for (int i = 0; i < 30'000; ++i) many += "- 1\n";
  EXPECT_NE(parse_yaml(many).error().message.find("too long"), std::string::npos);
}

}  // namespace
}  // namespace fathom
