// SPDX-License-Identifier: Apache-2.0
#include "base/http_host.h"

#include <algorithm>
#include <string>

#include "base/scan.h"
#include "base/text.h"

namespace fathom {
namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& byte : small)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  return small;
}

// "[::1]:80" as "[::1]", "Host:80" as "host".
std::string without_port(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end != std::string_view::npos) host = host.substr(0, host[end] == ']' ? end + 1 : end);
  return lower(host);
}

// The weight that `range` of an Accept field gives its media type: "text/plain;q=0.5".
double weight_of(std::string_view range) {
  for (const std::string_view parameter : split_words(range, ';')) {
    const std::string_view text = trimmed(parameter);
    if (text.starts_with("q=")) return parse_real(text.substr(2)).value_or(0);
  }
  return 1;
}

}  // namespace

bool is_own_host(std::string_view host, std::initializer_list<std::string_view> own) {
  if (host.empty()) return true;
  const std::string name = without_port(host);
  if (name == "localhost" || name == "[::1]") return true;
  if (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos)
    return true;
  return !name.empty() && std::any_of(own.begin(), own.end(), [&](std::string_view one) {
    const std::string text = lower(one);
    return !text.empty() && (name == text || name == "[" + text + "]");
  });
}

bool same_secret(std::string_view given, std::string_view wanted) {
  size_t differs = given.size() ^ wanted.size();
  for (size_t i = 0; i < given.size(); ++i)
    differs |=
        static_cast<unsigned char>(given[i] ^ wanted[wanted.empty() ? 0 : i % wanted.size()]);
  return differs == 0;
}

bool carries_token(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kBearer = "Bearer ";
  return authorization.starts_with(kBearer) &&
         same_secret(authorization.substr(kBearer.size()), token);
}

bool prefers_openmetrics(std::string_view accept) {
  double open = 0, plain = 0;
  for (const std::string_view range : split_words(accept, ',')) {
    const std::string type = lower(trimmed(range.substr(0, range.find(';'))));
    if (type == "application/openmetrics-text") open = std::max(open, weight_of(range));
    if (type == "text/plain") plain = std::max(plain, weight_of(range));
  }
  return open > 0 && open >= plain;
}

}  // namespace fathom
