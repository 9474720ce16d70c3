// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <type_traits>

namespace fathom {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error{Code::kInvalid, "odd", "give an even number"};
  return number / 2;
}
Result<int> quarter(int number) {
  TRY_ASSIGN(const int first, half(number));
  TRY_ASSIGN(const int second, half(first));
  return second;
}
Status check_even(int number) {
  TRY(half(number));
  return {};
}

TEST(ResultTest, ValuesAndErrorsPassUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(check_even(2).ok());
  const Status odd = check_even(3);
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().code, Code::kInvalid);
  EXPECT_EQ(odd.error().hint, "give an even number");
}

TEST(ResultTest, ValueOr) {
  EXPECT_EQ(half(8).value_or(-1), 4);
  EXPECT_EQ(half(7).value_or(-1), -1);
}

TEST(ResultTest, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ResultTest, IsNoBool) {
  static_assert(!std::is_constructible_v<bool, Result<int>>);
  static_assert(!std::is_constructible_v<bool, Status>);
}

TEST(ErrorTest, ReadsAsAPath) {
  Error error = errno_error("open /x", ENOENT);
  error = std::move(error).within("load io probe").with_hint("make /x");
  EXPECT_EQ(error.message, "load io probe: open /x: No such file or directory");
  EXPECT_EQ(error.hint, "make /x");
}

TEST(ErrorTest, CodesFitErrno) {
  const std::pair<int, Code> pairs[] = {
      {ENOENT, Code::kNotFound},  {ESRCH, Code::kNotFound},         {EACCES, Code::kPermission},
      {EPERM, Code::kPermission}, {EROFS, Code::kPermission},       {ENOSPC, Code::kNoSpace},
      {EDQUOT, Code::kNoSpace},   {EFBIG, Code::kNoSpace},          {EEXIST, Code::kExists},
      {EINVAL, Code::kInvalid},   {EOPNOTSUPP, Code::kUnsupported}, {ENOSYS, Code::kUnsupported},
      {EIO, Code::kIo},
  };
  for (const auto& [number, code] : pairs) {
    EXPECT_EQ(errno_error("x", number).code, code) << number;
  }
  errno = EACCES;
  EXPECT_EQ(errno_error("x").code, Code::kPermission);
}

TEST(CheckDeathTest, SaysWhere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(CHECK(1 + 1 == 3), "a bug: 1 \\+ 1 == 3 does not hold at .*result_test.cpp");
}

}  // namespace
}  // namespace fathom
