// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_settings.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/fd.h"
#include "base/log.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "hub/server.h"
#include "session/listen_address.h"

namespace fathom {
namespace {

constexpr size_t kLeastTokenBytes = 16;

std::string variable_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (char& byte : name)
    if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
  return "FATHOM_SERVE_" + name;
}

// Who has the port that we wanted, as far as it says so, and what to do.
std::string hint_for_port(const ServePlan& plan) {
  const bool any = plan.bind == "0.0.0.0" || plan.bind == "::";
  HttpUrl url{any ? "127.0.0.1" : plan.bind, plan.port, ""};
  const auto answer = HttpClient(std::move(url), "", 1000).call("GET", "/");
  const bool is_hub = answer.ok() && answer.value().body.starts_with("fathom hub");
  return fmt::format("{}; --port N takes another port, --port 0 any free one",
                     is_hub ? "a fathom hub is running there already"
                            : fmt::format("ss -ltnp 'sport = :{}' says who has it", plan.port));
}

}  // namespace

Result<ServeSettings> ServeSettings::load(const Arguments& arguments) {
  ServeSettings settings(arguments);
  const std::string path = settings.text("config");
  if (!path.empty()) TRY(settings.read_file(path));
  return settings;
}

Status ServeSettings::read_file(const std::string& path) {
  TRY_ASSIGN(const std::string text, fathom::read_file(path, 1 << 20));
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    const std::string name(trimmed(std::string_view(line).substr(0, equals)));
    const Flag* flag = find_flag(arguments_->command(), name);
    if (equals == std::string::npos || flag == nullptr || flag->value == nullptr ||
        name == "config")
      return Error{Code::kInvalid,
                   fmt::format("{}, line {}: '{}' is no setting", path, number, printable(line)),
                   "name = value, as the flags of `fathom serve --help`"};
    from_file_[name] = trimmed(std::string_view(line).substr(equals + 1));
  }
  return {};
}

std::string ServeSettings::text(const std::string& name) const {
  if (arguments_->has(name)) return arguments_->text(name);
  if (const char* value = getenv(variable_of(name).c_str()); value != nullptr && *value != '\0')
    return value;
  const auto found = from_file_.find(name);
  return found == from_file_.end() ? arguments_->text(name) : found->second;
}

Result<int64_t> ServeSettings::number(const std::string& name, int64_t least, int64_t most) const {
  const auto value = parse_number(text(name));
  if (value.ok() && value.value() >= least && value.value() <= most) return value.value();
  return Error{Code::kInvalid, fmt::format("--{} {} is out of range", name, printable(text(name))),
               fmt::format("{} to {}", least, most)};
}

Result<int64_t> ServeSettings::duration(const std::string& name) const {
  auto value = parse_duration(text(name));
  if (!value.ok()) return std::move(value).error().within("--" + name);
  return value;
}

Result<int> serve_as(const ServePlan& plan) {
  if (!plan.hub.token.empty() && plan.hub.token.size() < kLeastTokenBytes)
    return Error{Code::kInvalid, "the token is too short",
                 "at least 16 bytes: openssl rand -hex 32"};
  const bool six = plan.bind.find(':') != std::string::npos && !plan.bind.starts_with('[');
  auto listening =
      listen_at(six ? fmt::format("[{}]:{}", plan.bind, plan.port) : plan.bind + ":" + plan.port);
  if (!listening.ok()) {
    if (listening.error().code == Code::kInvalid)
      listening.error().hint = "--bind 127.0.0.1 --port 10000";
    if (listening.error().message.ends_with(std::generic_category().message(EADDRINUSE)))
      listening.error().hint = hint_for_port(plan);
    return std::move(listening).error();
  }
  if (!listening.value().loopback && plan.hub.token.empty())
    return Error{Code::kPermission,
                 fmt::format("{} can be reached from elsewhere: that takes a token", plan.bind),
                 "set FATHOM_TOKEN, or --token-file FILE; openssl rand -hex 32 makes one"};
  HubOptions options = plan.hub;
  options.bind = plan.bind;
  TRY_ASSIGN(const auto hub, Hub::open(options));
  for (const std::string& warning : hub->store().warnings()) log_warning("{}", warning);
  const std::string address = listening.value().address;
  TRY(serve(*hub, std::move(listening.value().socket), [&] {
    log_info("serving at http://{} · {}", address,
             plan.hub.store.empty() ? "SQLite in " + plan.hub.data : std::string("Redis"));
  }));
  log_info("ended");
  return 0;
}

}  // namespace fathom
