// SPDX-License-Identifier: Apache-2.0
// The protocol of the profiling-framework's own Python clients: JSON objects without a delimiter,
// each with an integer "command", answered with "ack"; docs/formats/hub.md has the details.
// LegacyFramer belongs to one thread. LegacySession belongs to one connection: one call at a time,
// on any thread that may block.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/committer.h"
#include "hub/contribution.h"
#include "hub/hub.h"

namespace fathom {

// Splits a byte stream into JSON objects by their braces.
class LegacyFramer {
 public:
  static constexpr size_t kMaxMessageBytes = size_t{16} << 20;

  void append(std::string_view bytes);
  // The next complete object. nullopt: more bytes are needed. kInvalid: not this protocol.
  Result<std::optional<std::string>> next();
  // Consumes one "ack". False: more bytes are needed. kInvalid: something else was received.
  Result<bool> take_ack();
  [[nodiscard]] size_t size() const { return bytes_.size() - begin_; }

 private:
  Result<bool> find_start();

  std::string bytes_;
  size_t begin_ = 0, scanned_ = 0;  // offsets in bytes_: of the message, of what was scanned of it
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

struct LegacyReply {
  size_t taken = 0;   // messages that this replies to
  std::string bytes;  // "ack" for each accepted one, then the reason if one was rejected
  // Set for a controller's command: text in parts that the client acknowledges; empty at the end.
  std::function<Result<std::string>()> more;
};

class LegacySession {
 public:
  // `peer` is the client's address.
  LegacySession(Hub& hub, std::string peer);

  // Executes the first message; with it, the data messages for the same job that follow it directly
  // are stored in one transaction. Data is acknowledged after it was stored. `messages` must not be
  // empty.
  LegacyReply execute(std::span<const std::string> messages);

 private:
  struct Parsed;
  LegacyReply store_data(std::span<const std::string> messages);
  Outcome commit(int64_t job, Contribution data);

  Hub& hub_;
  std::string peer_, run_;
  std::map<int64_t, uint64_t> sequences_;  // by job: the last one that was applied
};

// The first bytes that no HTTP request begins with.
inline bool is_legacy_start(char byte) { return byte == '{'; }

constexpr std::string_view kLegacyEnd = "endofmsg";
constexpr size_t kMaxLegacyChunkBytes = 1024;  // what these clients receive at a time

}  // namespace fathom
