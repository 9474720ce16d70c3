// SPDX-License-Identifier: Apache-2.0
// Requests and answers as the hub's routes see them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "hub/live.h"

namespace fathom {

class Hub;

struct HttpCall {
  std::string method, path;
  std::map<std::string, std::string, std::less<>> query;
  std::string content_type, accept, body;
  std::vector<std::string> parts;  // what stands for the {words} of the route's path

  [[nodiscard]] std::string value(std::string_view name) const;
  [[nodiscard]] Result<int64_t> number(std::string_view name, int64_t fallback) const;
};

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // More of the body, part by part; empty: that was all. It may block.
  std::function<Result<std::string>()> more;
  std::shared_ptr<Subscription> events;  // what follows is a stream of these, without end
};
using Answer = std::function<void(HttpReply)>;

struct Route {
  const char* method;
  const char* path;
  const char* takes;  // the only content types of its body, with spaces between; nullptr: no body
  // kOpen: needs no token. kBlocks: may wait for the store, so it runs beside the network threads.
  // kParses: so do long bodies of it, one at a time per connection, in order.
  enum Flags : unsigned { kPlain = 0, kOpen = 1, kBlocks = 2, kParses = 4 };
  unsigned flags;
  void (*handle)(Hub& hub, const HttpCall& call, const Answer& answer);
};

// The table of routes; docs/formats/hub.openapi.json describes them and a test compares.
std::span<const Route> all_routes();

struct Matched {
  const Route* route = nullptr;
  std::vector<std::string> parts;
  std::string allowed;  // where the path is known and the method is not: those that are
};
Matched match_route(std::string_view method, std::string_view path);

HttpReply json_reply(int status, std::string body);
// {"error":…,"hint":…} with the status that fits.
HttpReply error_reply(const Error& error);
HttpReply error_reply(int status, std::string_view message, std::string_view hint = {});

// "/a%20b?x=1" as path and query; nothing for what is no target.
struct Target {
  std::string path;
  std::map<std::string, std::string, std::less<>> query;
};
std::optional<Target> parse_target(std::string_view target);

}  // namespace fathom
