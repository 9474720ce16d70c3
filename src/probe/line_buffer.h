// SPDX-License-Identifier: Apache-2.0
// Lines out of bytes that come in any pieces. A line that is too long is left out and counted, and
// what follows it is read again. Belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

class LineBuffer {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 10;

  // Calls take(line) for every line that is complete now, without its end. Empty ones are none.
  template <class Take>
  void add(std::string_view bytes, Take&& take) {
    while (true) {
      const size_t end = bytes.find('\n');
      if (end == std::string_view::npos) break;
      finish_line(bytes.substr(0, end), take);
      bytes.remove_prefix(end + 1);
    }
    keep(bytes);
  }
  // What came last had no line end.
  template <class Take>
  void end(Take&& take) {
    finish_line({}, take);
  }

  [[nodiscard]] int64_t too_long() const { return too_long_; }

 private:
  void keep(std::string_view bytes) {
    if (rest_.size() + bytes.size() > kMostBytes) {
      skipping_ = true;
      rest_.clear();
    }
    if (!skipping_) rest_ += bytes;
  }

  template <class Take>
  void finish_line(std::string_view tail, Take&& take) {
    if (!rest_.empty() || tail.size() > kMostBytes) keep(tail);
    std::string_view line = rest_.empty() ? tail : std::string_view(rest_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (skipping_)
      ++too_long_;
    else if (!line.empty())
      take(line);
    skipping_ = false;
    rest_.clear();
  }

  std::string rest_;
  bool skipping_ = false;
  int64_t too_long_ = 0;
};

}  // namespace fathom
