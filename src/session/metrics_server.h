// SPDX-License-Identifier: Apache-2.0
// Serves the figures of a run at /metrics while it runs. A thread of its own talks to whoever
// comes: slow, endless or meaningless requests cost it a slot for a few seconds and the recorder
// nothing. The recorder's thread gives rows by take(); the page is made anew at most once for each
// of them.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "record/metrics_page.h"
#include "session/http_request.h"
#include "session/listen_address.h"

namespace fathom {

class MetricsServer {
 public:
  // For the address see listen_address.h. Beyond loopback a token is required, and only requests
  // that carry it are served; on loopback only those that name this machine as their host
  // (base/http_host.h).
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address,
                                                      const std::string& token = {});
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://" + listening_.address + "/metrics"; }
  [[nodiscard]] bool loopback() const { return listening_.loopback; }
  [[nodiscard]] bool needs_token() const { return !token_.empty(); }

  void take(const Rows& rows, const Dictionary& names);

 private:
  struct Client {
    Fd socket;
    int64_t end_ns = 0;  // it is parted from then
    std::string request, answer;
    size_t sent = 0;
    [[nodiscard]] bool answered() const { return !answer.empty() && sent == answer.size(); }
  };

  MetricsServer(Listening listening, std::string token)
      : listening_(std::move(listening)), token_(std::move(token)) {}
  void serve();
  int wait_and_serve();
  void accept_all();
  // False: it is done with.
  bool attend(Client& client);
  bool hear(Client& client);
  static bool speak(Client& client);
  std::string answer_to(const HttpRequest& request, int socket);
  std::string page(OpenMetricsText::Form form);

  Listening listening_;
  std::string token_;  // empty: none is needed
  Fd stop_;
  std::list<Client> clients_;  // the oldest first

  std::mutex mutex_;
  MetricsPage page_;  // under mutex_
  // By form, as of the last request; empty where the page has changed since. Under mutex_.
  std::array<std::string, 2> texts_;
  std::thread thread_;
};

}  // namespace fathom
