// SPDX-License-Identifier: Apache-2.0
// Whether a request may be served, told by its head, before its body is read. Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "hub/http.h"
#include "hub/hub.h"

namespace fathom {

struct RequestHead {
  std::string_view method, target, host, origin, authorization, accept, content_type,
      content_encoding;
  std::optional<uint64_t> content_length;
};

struct Admitted {
  HttpCall call;  // without its body
  const Route* route = nullptr;
};
// Whether a request with this header field has the token, where one is needed.
bool is_authorized(const HubOptions& options, std::string_view authorization);
// The call, or the answer that refuses it.
std::variant<Admitted, HttpReply> admit(const HubOptions& options, const RequestHead& head);

}  // namespace fathom
