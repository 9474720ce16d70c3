// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary text as a compose file. A project that is accepted has services that come after
// those they depend on, and variables are filled in without end or loss.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "launch/container/compose.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "compose_fuzz: %s\n", what);
  std::abort();
}

std::optional<std::string> variable(const std::string& name) {
  if (name == "SET") return "value";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

void check(std::string_view text) {
  const auto filled = fill_variables(text, variable);
  if (text.find('$') == std::string_view::npos)
    require(filled.ok() && filled.value() == text, "text without variables was changed");
  (void)parse_env_file(text);

  const auto project = parse_compose(text, "fuzz.yaml", "/nonexistent", variable);
  if (!project.ok()) {
    require(!project.error().message.empty(), "an error without a message");
    return;
  }
  std::set<std::string> names;
  for (const ComposeService& service : project.value().services) {
    require(!service.name.empty(), "a service without a name");
    for (const ComposeDependency& dependency : service.depends_on)
      require(names.contains(dependency.service), "a service comes before what it depends on");
    require(names.insert(service.name).second, "two services of one name");
    require(!create_body(service.request, {}).empty(), "no request for a service");
  }
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
