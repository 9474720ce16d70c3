// SPDX-License-Identifier: Apache-2.0
#include "record/frame_packer.h"

#include <zstd.h>

#include <algorithm>

#include "base/crc32c.h"

namespace fathom {
namespace {

constexpr int kCompressionLevel = 1;
constexpr size_t kBlockSpareBytes = 32;  // what a block more can cost beyond ZSTD_compressBound

void put_u32(char* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

void FramePacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

FramePacker::FramePacker() : zstd_(ZSTD_createCCtx()) {
  CHECK(zstd_ != nullptr);
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kCompressionLevel);
}

FramePacker::~FramePacker() = default;

Result<std::string> FramePacker::pack(std::string_view raw, std::span<const size_t> cuts,
                                      TableSet tables, uint32_t flags) {
  const Error too_large{Code::kInvalid, "the records are too large for one frame"};
  if (raw.size() > kMaxRawBytes) return too_large;
  const size_t room = ZSTD_compressBound(raw.size()) + kBlockSpareBytes * (cuts.size() + 1);
  out_.resize(std::max(out_.size(), kFrameHeaderBytes + room));
  ZSTD_CCtx_reset(zstd_.get(), ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(zstd_.get(), raw.size());
  ZSTD_outBuffer out{out_.data(), out_.size(), kFrameHeaderBytes};
  ZSTD_inBuffer in{raw.data(), 0, 0};
  for (const size_t cut : cuts) {
    in.size = cut;
    CHECK(ZSTD_compressStream2(zstd_.get(), &out, &in, ZSTD_e_flush) == 0);
  }
  in.size = raw.size();
  CHECK(ZSTD_compressStream2(zstd_.get(), &out, &in, ZSTD_e_end) == 0);
  const size_t size = out.pos - kFrameHeaderBytes;
  if (size > kMaxPayloadBytes) return too_large;
  char* header = out_.data();
  put_u32(header, kFrameMagic);
  put_u32(header + 4, static_cast<uint32_t>(size));
  put_u32(header + 8, static_cast<uint32_t>(raw.size()));
  put_u32(header + 12, tables);
  put_u32(header + 16, flags);
  put_u32(header + 20, crc32c({header + kFrameHeaderBytes, size}, crc32c({header, 20})));
  return std::string(header, out.pos);
}

}  // namespace fathom
