// SPDX-License-Identifier: Apache-2.0
// Delivers batches of one run to a job of a hub, in order. What was sent and not answered is sent
// again, for as long as patience lasts: sequences see to it that it counts once. Belongs to one
// thread; blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/result.h"

namespace fathom {

struct HubTarget {
  std::string url;  // as HttpUrl::parse takes it
  std::string token;
  int64_t job = 0;
};
constexpr const char* kDefaultHubPort = "10000";
constexpr const char* kFramesType = "application/x-fathom-frames";
constexpr const char* kLinesType = "application/x-ndjson";

// The number behind "name": in a JSON object; 0 where there is none.
int64_t json_number(std::string_view json, std::string_view name);
// The hub's own words of an answer that is no success.
Error hub_error(const HttpAnswer& answer);

class HubLink {
 public:
  static Result<HubLink> make(const HubTarget& target, const std::string& run);

  // How far the hub has come with this run. kNotFound: there is no such job.
  Result<uint64_t> acknowledged();
  // `sequence` is that of the body's first batch. The answer is the hub's, a success.
  Result<HttpAnswer> deliver(const char* what, const char* type, uint64_t sequence,
                             std::string_view body);
  void set_patience_ns(int64_t patience_ns) { patience_ns_ = patience_ns; }
  // What comes next fails where nobody answers at all; a hub that answers and asks for patience has
  // it. For the first contact: a wrong address shows at once.
  void set_must_answer(bool must) { must_answer_ = must; }
  // Called when waiting begins, with why and for how long at most.
  using OnWait = std::function<void(const Error& why, int64_t most_ns)>;
  void on_wait(OnWait on_wait) { on_wait_ = std::move(on_wait); }
  // Stops waiting, from any thread, if *stop becomes true.
  void give_up_when(const std::atomic<bool>* stop) {
    stop_ = stop;
    client_.stop_when(stop);
  }

 private:
  HubLink(HttpClient client, int64_t job, std::string query, std::string run)
      : client_(std::move(client)), job_(job), query_(std::move(query)), run_(std::move(run)) {}
  template <class Ask>
  Result<HttpAnswer> insist(Ask&& ask);

  HttpClient client_;
  int64_t job_;
  std::string query_, run_;
  int64_t patience_ns_ = 60'000'000'000;
  bool must_answer_ = false;
  OnWait on_wait_;
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace fathom
