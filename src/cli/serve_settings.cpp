// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/http_host.h"
#include "base/log.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hub_api.h"
#include "hub/server.h"
#include "session/listen_address.h"

namespace fathom {
namespace {

constexpr const char* kTokenFile = "fathom-token";

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

// Without a token the original clients of this machine are accepted. They send no token, so a hub
// that has one accepts them only where it was started with --legacy-clients.
Result<std::vector<AddressRange>> legacy_clients_of(const ServePlan& plan,
                                                    const std::string& token) {
  if (plan.legacy_clients.empty() && !token.empty()) return std::vector<AddressRange>();
  if (plan.legacy_clients.empty()) return loopback_ranges();
  std::vector<AddressRange> ranges;
  for (const std::string_view text : split_words(plan.legacy_clients, ',')) {
    TRY_ASSIGN(ranges.emplace_back(), AddressRange::parse(std::string(text)));
  }
  return ranges;
}

// The token in the data directory, which only its owner may read; created if it does not exist.
Result<std::string> own_token(const std::string& folder, std::string& file) {
  std::error_code failed;
  file = std::filesystem::absolute(folder, failed).lexically_normal() / kTokenFile;
  if (failed) return errno_error("find " + folder, failed.value());
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 && errno != EEXIST) return errno_error("create " + file);
  if (fd >= 0) {
    const Fd created(fd);
    std::array<unsigned char, 32> random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
      return errno_error("create " + file);
    std::string token;
    for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
    TRY(write_all(fd, token + "\n"));
    return token;
  }
  TRY_ASSIGN(const Fd found, open_file(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat state {};
  if (fstat(found.get(), &state) != 0) return errno_error("read " + file);
  if (!S_ISREG(state.st_mode) || state.st_uid != geteuid() || (state.st_mode & 077) != 0)
    return Error{Code::kPermission, file + ": readable or writable by other users",
                 "chmod 600 " + file + ", or remove it to get a new one"};
  return read_token(file);
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

Result<std::string> store_address(const std::string& flag, const std::string& elsewhere,
                                  const std::string& password_file) {
  constexpr std::string_view kScheme = "redis://";
  std::string address = flag.empty() ? elsewhere : flag;
  if (!address.starts_with(kScheme)) return address;
  const size_t at = address.rfind('@');
  const size_t begin = kScheme.size(), end = at == std::string::npos ? begin : at;
  const bool has_password = address.substr(begin, end - begin).find(':') != std::string::npos;
  if (has_password && !flag.empty())
    return Error{Code::kPermission,
                 "--store contains a password, which other users see in the process list",
                 "leave it out, and set FATHOM_REDIS_PASSWORD or --store-password-file FILE"};
  const char* given = getenv("FATHOM_REDIS_PASSWORD");
  std::string password = given == nullptr ? "" : given;
  if (!password_file.empty()) {
    TRY_ASSIGN(password, fathom::read_file(password_file, 4096));
    while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  }
  if (password.empty() || has_password) return address;
  const std::string user = address.substr(begin, end - begin);
  const std::string server = address.substr(at == std::string::npos ? begin : at + 1);
  return fmt::format("{}{}:{}@{}", kScheme, user, url_quote(password), server);
}

Result<int> serve_as(const ServePlan& plan) {
  if (!plan.hub.token.empty() && plan.hub.token.size() < kMinTokenBytes)
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
  HubOptions options = plan.hub;
  options.bind = plan.bind;
  std::string token_file;
  if (!listening.value().loopback && options.token.empty()) {
    if (!plan.creates_token)
      return Error{Code::kPermission,
                   fmt::format("{} can be reached from elsewhere: that takes a token", plan.bind),
                   "set FATHOM_TOKEN, or --token-file FILE; openssl rand -hex 32 makes one"};
    TRY_ASSIGN(options.token, own_token(options.data, token_file));
  }
  TRY_ASSIGN(options.legacy_clients, legacy_clients_of(plan, options.token));
  TRY_ASSIGN(const auto hub, Hub::open(options));
  for (const std::string& warning : hub->store().warnings()) log_warning("{}", warning);
  const std::string address = listening.value().address;
  TRY(serve(*hub, std::move(listening.value().socket), [&] {
    log_info("serving at http://{} · {}", address,
             plan.hub.store.empty() ? "SQLite in " + plan.hub.data : std::string("Redis"));
    if (!token_file.empty())
      log_info("clients need a copy of the token file: --token-file {}", shell_quote(token_file));
  }));
  log_info("ended");
  return 0;
}

}  // namespace fathom
