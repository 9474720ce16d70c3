// SPDX-License-Identifier: Apache-2.0
// Wakes when a descriptor has news, but not for every piece of it: a wake-up costs more than a
// hundred messages. After one it is deaf for a moment, and what comes meanwhile is read at once.
//
//   listening --news--> deaf, for kPauseNs --nothing came--> listening
//                        |   ^
//                        +---+ something came
//
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace fathom {

class QuietWake {
 public:
  static constexpr int64_t kPauseNs = kNsPerMs;

  // `fd` stays its owner's, and must outlive this.
  Status watch(int fd);
  // Becomes readable; also edge by edge.
  [[nodiscard]] int fd() const { return gate_.get(); }
  // Whether it is time to look.
  [[nodiscard]] bool due();
  // After a look: whether there was something.
  void looked(bool anything);

 private:
  void listen(bool on);

  Fd gate_, timer_;
  int watched_ = -1;
  bool listening_ = true;
};

}  // namespace fathom
