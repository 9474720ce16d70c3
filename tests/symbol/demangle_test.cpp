// SPDX-License-Identifier: Apache-2.0
#include "symbol/demangle.h"

#include <gtest/gtest.h>

#include "symbol/made_binary.h"

namespace fathom {
namespace {

TEST(Demangle, Known) {
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)");
  EXPECT_EQ(demangle("_ZN3foo3barEv.constprop.0"), "foo::bar() [clone .constprop.0]");
  EXPECT_EQ(demangle("_ZN3foo3barEv@plt"), "foo::bar()@plt");
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad");
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("_RNvNtNtCs1234_7mycrate3foo3bar3baz"), "mycrate::foo::bar::baz");
}

TEST(Demangle, OthersStayAsTheyAre) {
  for (const char* name :
       {"", "_", "_Z", "_R", "__Z", "main", "_start", "_Znonsense", "_Rubbish", "i", "write@plt",
        "@plt", "_ZN3foo", "<script>alert(1)</script>", "a;b\n\"c\"", "_Z\xff\xfe"})
    EXPECT_EQ(demangle(name), name);
  const std::string embedded("_ZN3foo3barEv\0x", 15);
  EXPECT_FALSE(demangle(embedded).empty());
}

TEST(Demangle, LibstdcxxAsCxxfiltSays) {
  const TempFolder folder;
  const std::string lists = folder.path();
  ASSERT_TRUE(shell("nm -D --defined-only --without-symbol-versions $(ldd /proc/" +
                    std::to_string(getpid()) +
                    "/exe | awk '/libstdc/{print $3}') | awk '/_Z/{print $3}' >" + lists +
                    "/names && c++filt -i <" + lists + "/names >" + lists + "/filtered"));
  std::istringstream names(read_file(lists + "/names").value());
  std::istringstream filtered(read_file(lists + "/filtered").value());
  int compared = 0;
  for (std::string name, text; std::getline(names, name) && std::getline(filtered, text);) {
    if (name.size() < 1000) {
      EXPECT_EQ(demangle(name), text);
    }
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

// Each level doubles the text: 30 levels would be gigabytes.
TEST(Demangle, SubstitutionBomb) {
  std::string name = "_Z1fI1xE";
  std::string bomb = "_Z1f";
  bomb += "St4pairIiiE";
  for (int i = 0; i < 30; ++i) {
    const std::string last =
        i == 0 ? "S_"
               : "S" + std::string(1, static_cast<char>(i < 11 ? '0' + i - 1 : 'A' + i - 11)) + "_";
    bomb += "St4pairI" + last + last + "E";
  }
  const std::string text = demangle(bomb);
  EXPECT_LE(text.size(), kMaxDemangledBytes + 8);
}

TEST(Demangle, HostileNestingAndLength) {
  for (const size_t size : {1000U, 3900U, 4000U, 65536U}) {
    for (const char* unit : {"N", "P", "I", "St4pairI", "F", "Dp", "cl", "L_Z", "T_", "_Z", "K"}) {
      std::string name = "_Z1f";
      while (name.size() < size) name += unit;
      (void)demangle(name);
      std::string rust = "_R";
      while (rust.size() < size) rust += unit;
      (void)demangle(rust);
    }
    std::string rust = "_RINvC1a1b";
    while (rust.size() < size) rust += "TB6_B6_E";
    (void)demangle(rust);
  }
  const std::string large(65536, 'x');
  EXPECT_EQ(demangle("_Z" + large), "_Z" + large);
}

TEST(Demangler, Remembers) {
  Demangler demangler;
  EXPECT_EQ(demangler("_ZN3foo3barEv"), "foo::bar()");
  EXPECT_EQ(demangler("_ZN3foo3barEv"), "foo::bar()");
  EXPECT_EQ(demangler("plain"), "plain");
  EXPECT_EQ(demangler.size(), 1U);
  for (int i = 0; i < 100'000; ++i) demangler("_x" + std::to_string(i));
  EXPECT_LE(demangler.size(), 32768U);
}

}  // namespace
}  // namespace fathom
