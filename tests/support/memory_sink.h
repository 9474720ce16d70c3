// SPDX-License-Identifier: Apache-2.0
// A sink that keeps what it is given, to look at it in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/merge.h"
#include "record/recording.h"
#include "sink/record_stream.h"

namespace fathom {

class MemorySink final : public Sink {
 public:
  void write(std::string frame, int64_t /*records*/) override {
    frames.push_back(std::move(frame));
  }
  Status close(std::string last_frame) override {
    frames.push_back(std::move(last_frame));
    return {};
  }
  [[nodiscard]] SinkReport report() const override { return {}; }

  // All rows so far, decoded and merged as a reader does.
  [[nodiscard]] std::unique_ptr<Collected> collected() const {
    auto all = std::make_unique<Collected>();
    for (const std::string& frame : frames) {
      auto batch = decode_frame(frame);
      EXPECT_TRUE(batch.ok());
      if (batch.ok()) add_translated(batch.value(), all->names, all->rows);
    }
    keep_last(all->rows);
    return all;
  }

  std::vector<std::string> frames;
};

}  // namespace fathom
