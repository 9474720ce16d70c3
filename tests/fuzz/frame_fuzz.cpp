// SPDX-License-Identifier: Apache-2.0
// Feeds the frame decoder. Input that starts with "FFRM" is a frame as it stands, which mostly ends
// at the checksum; all other input is a payload, put into a frame with the right sizes and
// checksum. What decodes is walked through every id, encoded again and must come back the same.
#include <cstdio>
#include <cstdlib>

#include "record/frame.h"
#include "record/frame_packer.h"
#include "record/row_text.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "frame_fuzz: %s\n", what);
  std::abort();
}

// Every record as text, with all that its ids stand for.
std::string text_of(const Batch& batch) {
  std::string text;
  RowText rows(batch.dictionary, batch.rows);
  for_each_table([&]<class Record>() {
    // A few of them: a row count alone makes 65,536.
    for (size_t i = 0; i < std::min<size_t>(batch.rows.of<Record>().size(), 64); ++i) {
      text += rows.json(batch.rows.of<Record>()[i]) + "\n";
    }
  });
  return text;
}

void check(std::string_view frame) {
  const auto batch = decode_frame(frame);
  if (!batch.ok())
    return require(batch.error().code == Code::kCorrupt, "another code than kCorrupt");
  FrameEncoder encoder;
  const auto again = encoder.encode(batch.value().dictionary, batch.value().rows);
  if (!again.ok()) return;  // ranges of details may overlap no more, and so be too many
  const auto same = decode_frame(again.value());
  require(same.ok(), "our own frame does not decode");
  require(text_of(same.value()) == text_of(batch.value()), "the records differ after a round trip");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("FFRM")) {
    fathom::check(bytes);
  } else {
    fathom::FramePacker packer;
    const auto frame = packer.pack(bytes, {}, fathom::kAllTables, 0);
    if (frame.ok()) fathom::check(frame.value());
  }
  return 0;
}
