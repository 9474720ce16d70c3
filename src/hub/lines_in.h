// SPDX-License-Identifier: Apache-2.0
// Batches as JSON lines, which any language can write:
//
//   {"node":"sym","execname":"prog","cache-misses":7,…}   adds to the sums
//   {"benchmark":{"time":1.5,"cache-misses":7,…}}          appends a row
//   {"gauge":"loss","value":0.5,"unit":""}                 a value now; or {"gauge":{"name":…}}
//   {"mark":"epoch 3"}                                     a moment
//
// An instruction offset behind a symbol (+0x1f) is left out, so that a function is one node.
// Belongs to one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/contribution.h"

namespace fathom {

struct BadLine {
  size_t number = 0;  // from 1
  std::string why;
};

class LineParser {
 public:
  // kUnsupported: there is no JSON library here.
  static Result<LineParser> make();
  LineParser(LineParser&&) noexcept;
  LineParser& operator=(LineParser&&) noexcept;
  ~LineParser();

  Status take(std::string_view line, const RowOrigin& origin, Contribution& out);

 private:
  struct Body;
  explicit LineParser(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

struct ParsedLines {
  Contribution contribution;
  std::vector<BadLine> bad;  // the first hundred
  size_t bad_count = 0;
};
// A bad line costs itself and no other. Empty lines count, and say nothing.
Result<ParsedLines> contribution_of_lines(std::string_view body, const RowOrigin& origin);

}  // namespace fathom
