// SPDX-License-Identifier: Apache-2.0
// The hub without its network: a store, the committer in front of it, and who watches. Owns them;
// any thread may call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_mode.h"
#include "base/result.h"
#include "hub/address_range.h"
#include "hub/committer.h"
#include "hub/data_directory.h"
#include "hub/live.h"
#include "hub/readiness.h"
#include "store/store.h"

namespace fathom {

struct HubOptions {
  std::string data = "fathom-hub";        // folder
  unsigned file_mode = kPrivateFileMode;  // of files in it
  std::string store;                      // address; empty: SQLite in the data folder
  int64_t patience_ns = 30'000'000'000;   // how long ingest waits for a store that does not answer
  size_t most_body_bytes = size_t{64} << 20;
  size_t most_pending_bytes = size_t{256} << 20;  // of all requests together
  size_t most_connections = 10'000;
  size_t max_per_peer = 2'500;  // of them, from which no request was admitted yet
  int64_t header_ns = 10'000'000'000;
  int64_t idle_ns = 300'000'000'000;
  int64_t shutdown_ns = 10'000'000'000;
  std::string token;  // empty: none is asked for
  std::string bind;   // as it was given: a name that this hub answers to
  int threads = 0;    // 0: one a core
  // Who may use the profiling-framework's own protocol, which knows no token.
  std::vector<AddressRange> legacy_clients;
};

struct HubCounts {
  std::atomic<int64_t> connections{0}, requests{0}, refused{0}, bytes_in{0}, pending_bytes{0},
      timeouts{0}, turned_away{0};
};

// Some of the memory that requests under way may take together.
class Held {
 public:
  explicit Held(HubCounts& counts) : counts_(&counts) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { counts_->pending_bytes -= bytes_; }
  // False: there is no room for that much.
  bool reach(size_t bytes, size_t most_bytes);

 private:
  HubCounts* counts_;
  int64_t bytes_ = 0;
};

class Hub {
 public:
  static Result<std::unique_ptr<Hub>> open(const HubOptions& options);
  ~Hub();

  [[nodiscard]] const HubOptions& options() const { return options_; }
  Store& store() { return *store_; }
  Committer& committer() { return *committer_; }
  Live& live() { return live_; }
  HubCounts& counts() { return counts_; }
  // Memory for what a request has become; null: there is no room.
  std::shared_ptr<Held> hold(size_t bytes);
  // Whether data is accepted; cheap to call often.
  Status ready(int64_t now_ns) { return readiness_->check(now_ns); }
  [[nodiscard]] int64_t started_ns() const { return started_ns_; }

 private:
  explicit Hub(HubOptions options);

  HubOptions options_;
  int64_t started_ns_;
  HubCounts counts_;
  Live live_{counts_.pending_bytes};
  DataDirectory data_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Readiness> readiness_;
};

}  // namespace fathom
