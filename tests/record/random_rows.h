// SPDX-License-Identifier: Apache-2.0
// Records of every kind with random and extreme values, made from the schema.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "record/batch.h"
#include "record/exact_text.h"

namespace fathom {

class RandomRows {
 public:
  explicit RandomRows(uint64_t seed) : random_(seed) {}

  template <class Record>
  Record make() {
    Record record;
    for_each_field<Record>([&](const auto& field, uint32_t) { draw(record.*field.member); });
    return record;
  }
  template <class Record>
  void add(size_t count) {
    for (size_t i = 0; i < count; ++i) rows.of<Record>().push_back(make<Record>());
  }
  void add_to_every_table(size_t count) {
    for_each_table([&]<class Record>() { add<Record>(count); });
  }

  Interner names;
  Rows rows;
  uint64_t longest_text = 5000;

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  void draw(int64_t& value) {
    constexpr int64_t kExtremes[] = {0,
                                     1,
                                     -1,
                                     63,
                                     -64,
                                     64,
                                     8191,
                                     INT32_MAX,
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
    value = below(2) == 0 ? kExtremes[below(std::size(kExtremes))]
                          : static_cast<int64_t>(random_() >> below(64));
  }
  // All but the smallest integer, which a Maybe has no room for, nor has a difference to its base.
  void draw(Maybe& value) {
    constexpr int64_t kExtremes[] = {0,
                                     -1,
                                     4096,
                                     INT32_MIN,
                                     std::numeric_limits<int64_t>::max() / 2,
                                     std::numeric_limits<int64_t>::min() / 2};
    value = Maybe();
    if (below(3) != 0) value = kExtremes[below(std::size(kExtremes))];
    if (below(3) == 0) value = static_cast<int64_t>(random_() >> (1 + below(63))) / 2;
  }
  void draw(double& value) {
    constexpr double kExtremes[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -2.5,
                                    1e300,
                                    5e-324,
                                    std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
    value = below(2) == 0 ? kExtremes[below(std::size(kExtremes))]
                          : static_cast<double>(random_()) / 1e3;
  }
  void draw(StringId& id) {
    const uint64_t kind = below(6);
    if (kind == 0) id = StringId::kNone;
    if (kind == 1) id = names.string(std::string("a\0b", 3));
    if (kind == 2) id = names.string("\xff\xfe\x80 not UTF-8");
    if (kind == 3) id = names.string(std::string(1 + below(longest_text), 'x'));
    if (kind > 3) id = names.string(fmt::format("name \"{}\",\n é", below(300)));
  }
  void draw(ThreadId& id) {
    id = ThreadId::kNone;
    if (below(8) == 0) return;
    if (below(8) == 0) id = names.thread(0, 0);
    if (below(2) == 0) id = names.thread(static_cast<int64_t>(below(9)), INT64_MAX);
  }
  void draw(StackId& id) {
    id = StackId::kNone;
    for (uint64_t depth = below(20); depth > 0; --depth) {
      Frame frame;
      draw(frame.symbol);
      if (below(2) == 0) draw(frame.module);
      if (below(4) == 0) draw(frame.file);
      if (below(4) == 0) draw(frame.build_id);
      if (below(4) == 0) frame.line = static_cast<uint32_t>(random_());
      frame.kind = static_cast<FrameKind>(below(static_cast<uint64_t>(kLastFrameKind) + 1));
      id = names.stack(id, names.frame(frame));
    }
  }
  void draw(DetailId& id) {
    std::vector<DetailItem> items(below(4));
    for (DetailItem& item : items) {
      draw(item.key);
      const uint64_t type = below(3);
      if (type == 0) draw(item.value.emplace<int64_t>());
      if (type == 1) draw(item.value.emplace<double>());
      if (type == 2) draw(item.value.emplace<StringId>());
    }
    id = names.detail(items);
  }
  void draw(Histogram& range) {
    range = {static_cast<uint32_t>(rows.buckets.size()), static_cast<uint32_t>(below(64))};
    for (uint32_t i = 0; i < range.length; ++i) draw(rows.buckets.emplace_back());
  }

  std::mt19937_64 random_;
};

}  // namespace fathom
