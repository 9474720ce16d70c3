// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostDepth = 32;
constexpr size_t kMostNodes = 20'000;

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlReader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  Result<YamlNode> document() {
    YamlNode root;
    root.kind = YamlNode::Kind::kMap;
    TRY(next());  // the stream
    TRY(next());
    if (event_.type == YAML_STREAM_END_EVENT) return root;
    TRY(next());
    TRY(read(root, 0));
    TRY(next());  // its end
    TRY(next());
    if (event_.type != YAML_STREAM_END_EVENT) return wrong("a second document begins");
    return root;
  }

 private:
  Error wrong(std::string_view what, size_t line) const {
    return Error{Code::kInvalid, fmt::format("line {}: {}", line, what)};
  }
  Error wrong(std::string_view what) const { return wrong(what, event_.start_mark.line + 1); }

  Status next() {
    yaml_event_delete(&event_);
    event_ = {};
    if (yaml_parser_parse(&parser_, &event_) != 0) return {};
    std::string problem = parser_.problem != nullptr ? parser_.problem : "it is not YAML";
    const size_t line = parser_.error == YAML_READER_ERROR ? 0 : parser_.problem_mark.line + 1;
    if (line == 0) return Error{Code::kInvalid, printable(problem)};
    return wrong(printable(problem), line);
  }

  // The node that the event at hand begins.
  Status read(YamlNode& node, size_t depth) {
    if (depth > kMostDepth) return wrong("it is nested too deep");
    if (++nodes_ > kMostNodes) return wrong("it is too long");
    node.line = event_.start_mark.line + 1;
    switch (event_.type) {
      case YAML_SCALAR_EVENT:
        node.kind = YamlNode::Kind::kScalar;
        node.text = text();
        return {};
      case YAML_SEQUENCE_START_EVENT:
        return read_list(node, depth);
      case YAML_MAPPING_START_EVENT:
        return read_map(node, depth);
      case YAML_ALIAS_EVENT:
        return wrong("aliases are not read here");
      default:
        return wrong("a value is missing");
    }
  }

  Status read_list(YamlNode& node, size_t depth) {
    node.kind = YamlNode::Kind::kList;
    TRY(next());
    while (event_.type != YAML_SEQUENCE_END_EVENT) {
      TRY(read(node.items.emplace_back(), depth + 1));
      TRY(next());
    }
    return {};
  }

  Status read_map(YamlNode& node, size_t depth) {
    node.kind = YamlNode::Kind::kMap;
    TRY(next());
    while (event_.type != YAML_MAPPING_END_EVENT) {
      if (event_.type != YAML_SCALAR_EVENT) return wrong("a key must be a word");
      std::string key = text();
      if (node.find(key) != nullptr) return wrong(printable(key) + " stands twice");
      TRY(next());
      node.members.emplace_back(std::move(key), YamlNode{});
      TRY(read(node.members.back().second, depth + 1));
      TRY(next());
    }
    return {};
  }

  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  size_t nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == key; });
  return found != members.end() ? &found->second : nullptr;
}

Result<YamlNode> parse_yaml(std::string_view text) {
  if (text.size() > kMostBytes) return Error{Code::kInvalid, "it is larger than 1 MB"};
  return YamlReader(text).document();
}

}  // namespace fathom
