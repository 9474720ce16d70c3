// SPDX-License-Identifier: Apache-2.0
#include "sink/hub_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"

namespace fathom {
namespace {

// The text behind "name":" in a JSON object of ours, with its escapes undone as far as they occur.
std::string json_text(std::string_view json, std::string_view name) {
  const std::string key = fmt::format("\"{}\":\"", name);
  size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  std::string text;
  for (at += key.size(); at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\' && at + 1 < json.size()) ++at;
    text += json[at];
  }
  return text;
}

constexpr int64_t kQuestionNs = 10 * kNsPerSecond;
// Of a delivery: the hub may wait for its store, and closes connections slower than this.
constexpr int64_t kDeliveryNs = 45 * kNsPerSecond;
constexpr int64_t kSlowestBytesPerSecond = 50'000;
constexpr size_t kMaxReplyBytes = size_t{1} << 20;

bool may_pass(int status) { return status == 503 || status == 507 || status == 429; }

}  // namespace

int64_t json_number(std::string_view json, std::string_view name) {
  const std::string key = fmt::format("\"{}\":", name);
  const size_t at = json.find(key);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = json.substr(at + key.size());
  return parse_number(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(0);
}

Error hub_error(const HttpAnswer& answer) {
  Code code = Code::kIo;
  if (answer.status == 400 || answer.status == 422) code = Code::kInvalid;
  if (answer.status == 401 || answer.status == 403) code = Code::kPermission;
  if (answer.status == 404) code = Code::kNotFound;
  if (answer.status == 409) code = Code::kExists;
  std::string message = json_text(answer.body, "error");
  if (message.empty()) message = fmt::format("the hub answered with status {}", answer.status);
  std::string hint = json_text(answer.body, "hint");
  if (answer.status == 401 && hint.starts_with("Authorization"))
    hint = "set FATHOM_TOKEN, or name a file with --token-file";
  return Error{code, printable(message), printable(hint)};
}

Result<HubLink> HubLink::make(const HubTarget& target, const std::string& run) {
  TRY_ASSIGN(HttpUrl url, HttpUrl::parse(target.url, kDefaultHubPort));
  std::string query = fmt::format("?run={}&host={}&real_offset_ns={}", url_quote(run),
                                  url_quote(host_facts().name), real_offset_ns());
  HttpClient client(std::move(url), target.token);
  client.set_max_body_bytes(kMaxReplyBytes);
  return HubLink(std::move(client), target.job, std::move(query), run);
}

template <class Ask>
Result<HttpAnswer> HubLink::insist(Ask&& ask) {
  const int64_t give_up_ns = monotonic_ns() + patience_ns_;
  for (int attempt = 0;; ++attempt) {
    auto answer = ask();
    if (answer.ok() && !may_pass(answer.value().status)) return answer;
    const int64_t pause_ns =
        std::min<int64_t>(kNsPerSecond, (int64_t{20} * kNsPerMs) << std::min(attempt, 6));
    const bool over = monotonic_ns() + pause_ns > give_up_ns || (stop_ != nullptr && *stop_) ||
                      (must_answer_ && !answer.ok());
    if (over) return answer.ok() ? Result<HttpAnswer>(hub_error(answer.value())) : answer;
    if (attempt == 0 && on_wait_)
      on_wait_(answer.ok() ? hub_error(answer.value()) : answer.error(), patience_ns_);
    usleep(static_cast<useconds_t>(pause_ns / 1000));
  }
}

Result<uint64_t> HubLink::acknowledged() {
  const std::string target = fmt::format("/api/v1/jobs/{}/runs/{}", job_, url_quote(run_));
  client_.set_exchange_limit_ns(kQuestionNs);
  TRY_ASSIGN(const HttpAnswer answer, insist([&] { return client_.call("GET", target); }));
  if (answer.status != 200) return hub_error(answer);
  return static_cast<uint64_t>(json_number(answer.body, "acknowledged"));
}

Result<HttpAnswer> HubLink::deliver(const char* what, const char* type, uint64_t sequence,
                                    std::string_view body) {
  const std::string target =
      fmt::format("/api/v1/jobs/{}/{}{}&sequence={}", job_, what, query_, sequence);
  client_.set_exchange_limit_ns(kDeliveryNs + static_cast<int64_t>(body.size()) *
                                                  (kNsPerSecond / kSlowestBytesPerSecond));
  TRY_ASSIGN(HttpAnswer answer, insist([&] { return client_.call("POST", target, type, body); }));
  if (answer.status != 200) return hub_error(answer);
  return answer;
}

}  // namespace fathom
