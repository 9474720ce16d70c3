// SPDX-License-Identifier: Apache-2.0
// Small integers that stand for something in a Dictionary. 0 is always "none". They mean nothing
// without their dictionary: an Interner's while recording, a frame's own after decoding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom {

enum class StringId : uint32_t { kNone = 0 };
enum class ThreadId : uint32_t { kNone = 0 };
enum class FrameId : uint32_t { kNone = 0 };
enum class StackId : uint32_t { kNone = 0 };
enum class DetailId : uint32_t { kNone = 0 };

template <class Id>
constexpr size_t index_of(Id id) {
  return static_cast<size_t>(id);
}

}  // namespace fathom
