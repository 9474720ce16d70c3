// SPDX-License-Identifier: Apache-2.0
// The outside of a frame: compresses a payload and puts the header before it. Keeps its buffers;
// one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/frame.h"

struct ZSTD_CCtx_s;

namespace fathom {

class FramePacker {
 public:
  FramePacker();
  ~FramePacker();

  // The frame of a payload. `cuts` are rising offsets at which a zstd block ends, and so what one
  // code table covers: ids, times and sizes have little in common. kInvalid if it is larger than a
  // frame may be.
  Result<std::string> pack(std::string_view raw, std::span<const size_t> cuts, TableSet tables,
                           uint32_t flags);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> zstd_;
  std::vector<char> out_;
};

}  // namespace fathom
