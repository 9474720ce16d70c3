// SPDX-License-Identifier: Apache-2.0
// The line at the bottom of the terminal while a target runs. The target's own output scrolls above
// it and is not touched: the line lives outside the scrolling region. It hides while a program has
// the terminal in raw mode (an editor, a pager). Belongs to the recorder's thread.
#pragma once

#include <string>

#include "session/session.h"

namespace fathom {

class ProgressLine {
 public:
  enum class Mode { kOff, kTerminal, kPlain };
  // kTerminal if stderr is one; `always` writes plain lines where it is not.
  static Mode mode_for(const std::string& wanted);

  explicit ProgressLine(Mode mode) : mode_(mode) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  void clear();

 private:
  void draw(const std::string& text);

  Mode mode_;
  int rows_ = 0;  // of the terminal when the region was set; 0: it is not
};

std::string progress_text(const Progress& progress);

}  // namespace fathom
