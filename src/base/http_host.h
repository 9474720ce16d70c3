// SPDX-License-Identifier: Apache-2.0
// Rules that all our HTTP servers share. Stateless and thread-safe.
#pragma once

#include <initializer_list>
#include <string_view>

namespace fathom {

constexpr size_t kMinTokenBytes = 16;

// Whether a Host header field names this machine: localhost, 127.0.0.0/8, [::1], or one of `own`
// (names or addresses without a port). A server without a token answers to nothing else: a web page
// whose own name was made to resolve to this machine (DNS rebinding) has an origin that fits its
// Host, so only the name reveals it. An empty field is accepted, because browsers always send one.
bool is_own_host(std::string_view host, std::initializer_list<std::string_view> own);

// Whether a field like "Bearer TOKEN" carries this token.
bool carries_token(std::string_view authorization, std::string_view token);

// Compares in a time that does not depend on where they differ.
bool same_secret(std::string_view given, std::string_view wanted);

// Whether an Accept header field prefers OpenMetrics to the Prometheus text format.
bool prefers_openmetrics(std::string_view accept);

}  // namespace fathom
