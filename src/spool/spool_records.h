// SPDX-License-Identifier: Apache-2.0
// Makes spans and counters of what spools hold. Belongs to the recorder's thread, with the stream
// it writes to.
#pragma once

#include <cstdint>
#include <string>

#include "sink/record_stream.h"
#include "spool/known_names.h"
#include "spool/spool_reader.h"

namespace fathom {

class SpoolRecords final : public SpoolListener {
 public:
  // `layer` is that of all records.
  SpoolRecords(RecordStream& out, std::string layer)
      : out_(out), names_(out), layer_(std::move(layer)) {}

  void on_call(const SpoolCall& call) override;
  void on_cell(const SpoolCell& cell) override;
  [[nodiscard]] int64_t calls() const { return calls_; }

 private:
  template <class Record>
  void set_origin(Record& record, const SpoolOrigin& origin);

  RecordStream& out_;
  KnownNames names_;
  std::string layer_;
  int64_t calls_ = 0;
};

}  // namespace fathom
