// SPDX-License-Identifier: Apache-2.0
#include "symbol/xz.h"

#include <lzma.h>

#include <algorithm>

namespace fathom {
namespace {

constexpr uint64_t kMaxDecoderBytes = 96 << 20;  // xz -9 needs 65 MB
constexpr size_t kFirstBytes = 256 << 10;

class Decoder {
 public:
  Decoder() = default;
  ~Decoder() { lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Result<std::string> run(std::string_view packed, size_t limit) {
    if (lzma_stream_decoder(&stream_, kMaxDecoderBytes, LZMA_CONCATENATED) != LZMA_OK)
      return Error{Code::kInternal, "xz decoder cannot start"};
    stream_.next_in = reinterpret_cast<const uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    std::string out;
    lzma_ret outcome = LZMA_OK;
    while (outcome == LZMA_OK) {
      const size_t used = out.size();
      if (used >= limit) return Error{Code::kCorrupt, "xz data unpacks to too much"};
      out.resize(std::min(limit, std::max(kFirstBytes, used * 2)));
      stream_.next_out = reinterpret_cast<uint8_t*>(out.data()) + used;
      stream_.avail_out = out.size() - used;
      outcome = lzma_code(&stream_, LZMA_FINISH);
      out.resize(out.size() - stream_.avail_out);
    }
    if (outcome != LZMA_STREAM_END) return Error{Code::kCorrupt, "xz data is damaged"};
    return out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

Result<std::string> unpack_xz(std::string_view packed, size_t limit) {
  Decoder decoder;
  return decoder.run(packed, limit);
}

}  // namespace fathom
