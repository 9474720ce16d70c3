// SPDX-License-Identifier: Apache-2.0
// The one error idiom outside inject/. A function that can fail returns Result<T>; TRY and
// TRY_ASSIGN pass an error up. An Error reads as a path of what was being done, and its hint says
// what to type next. Libraries return errors, the edge that stops one logs it once. Plain values:
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace fathom {

enum class Code {
  kInvalid,
  kNotFound,
  kPermission,
  kUnsupported,
  kIo,
  kNoSpace,
  kCorrupt,
  kExists,
  kInterrupted,
  kCommandNotFound,       // the program that was to be executed
  kCommandNotExecutable,  // the same, for any other reason
  kInternal
};

struct Error {
  Code code = Code::kInternal;
  std::string message;
  std::string hint = {};

  // Prefixes what was being done: "load io probe: open /x: no such file".
  [[nodiscard]] Error within(std::string_view doing) && {
    message = std::string(doing) + ": " + message;
    return std::move(*this);
  }
  [[nodiscard]] Error with_hint(std::string_view what_to_do) && {
    hint = what_to_do;
    return std::move(*this);
  }
};

// An Error from errno: "open /x: No such file or directory", with the code that fits.
[[nodiscard]] Error errno_error(std::string_view doing, int error_number);
[[nodiscard]] Error errno_error(std::string_view doing);

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const = delete;  // a Result<bool> would read wrong

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T value_or(T fallback) && {
    return ok() ? std::get<0>(std::move(state_)) : std::move(fallback);
  }
  [[nodiscard]] Error& error() & { return std::get<1>(state_); }
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const = delete;

  void value() const {}
  [[nodiscard]] Error& error() & { return *error_; }
  [[nodiscard]] const Error& error() const& { return *error_; }
  [[nodiscard]] Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

#define FATHOM_CONCAT_(a, b) a##b
#define FATHOM_CONCAT(a, b) FATHOM_CONCAT_(a, b)

// TRY(expr): returns the error of expr from this function, else goes on.
#define TRY(expr)                                                                            \
  do {                                                                                       \
    if (auto try_result_ = (expr); !try_result_.ok()) return std::move(try_result_).error(); \
  } while (false)

// TRY_ASSIGN(auto x, expr): the same, and x is the value.
#define TRY_ASSIGN(declaration, expr) \
  TRY_ASSIGN_(FATHOM_CONCAT(try_result_, __LINE__), declaration, expr)
#define TRY_ASSIGN_(result, declaration, expr)        \
  auto result = (expr);                               \
  if (!result.ok()) return std::move(result).error(); \
  declaration = std::move(result).value()

// For our own bugs only: prints where and aborts.
#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) ::fathom::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace fathom
