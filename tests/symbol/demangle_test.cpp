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

// A number with these digits.
std::string in_base(size_t number, std::string_view digits) {
  std::string text;
  do {
    text.insert(text.begin(), digits[number % digits.size()]);
    number /= digits.size();
  } while (number > 0);
  return text;
}

// C++'s S_, S0_ … S9_, SA_ and Rust's _, 0_ … 9_, a_, each one level above the last.
std::string back_reference(size_t number, std::string_view digits) {
  return (number == 0 ? "" : in_base(number - 1, digits)) + "_";
}

// f(a<int, int>, a<the last, the last>, …): each level doubles the text.
std::string cxx_bomb(size_t levels) {
  std::string name = "_Z1f1aIiiE";
  for (size_t i = 1; i <= levels; ++i) {
    const std::string last = "S" + back_reference(i, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    name += "S_I" + last + last + "E";
  }
  return name;
}

// a::f::<((), ()), (the last, the last), …>
std::string rust_bomb(size_t levels) {
  std::string name = "INvC1a1f";
  size_t last_at = name.size();
  name += "TuuE";
  for (size_t i = 1; i <= levels; ++i) {
    const std::string last =
        "B" +
        back_reference(last_at, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    last_at = name.size();
    name += "T" + last + last + "E";
  }
  return "_R" + name + "E";
}

void expect_bounded(std::string (*bomb)(size_t)) {
  const size_t three = demangle(bomb(3)).size(), four = demangle(bomb(4)).size();
  EXPECT_GT(four, bomb(4).size());
  EXPECT_GT(four, three * 3 / 2);  // it is one
  const std::string few = demangle(bomb(6));
  EXPECT_LT(few.size(), kMaxDemangledBytes);
  for (const size_t levels : {20U, 40U, 150U}) {  // megabytes, terabytes, beyond count
    const std::string text = demangle(bomb(levels));
    EXPECT_LE(text.size(), kMaxDemangledBytes + 3);
    EXPECT_GT(text.size(), kMaxDemangledBytes / 2);
    EXPECT_TRUE(text.ends_with("…"));
    EXPECT_EQ(text.substr(0, few.size() - 2), few.substr(0, few.size() - 2));
  }
}

TEST(Demangle, CxxBomb) { expect_bounded(cxx_bomb); }
TEST(Demangle, RustBomb) { expect_bounded(rust_bomb); }

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
