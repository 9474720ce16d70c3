// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/fd.h"
#include "base/text.h"
#include "base/yaml.h"
#include "report/sizing.h"

namespace fathom {
namespace {

// 8g, 512m or a bare number, in units of 1,024.
std::optional<double> amount_of(std::string_view text) {
  double factor = 1;
  while (!text.empty() && (text.back() == 'b' || text.back() == 'B' || text.back() == 'i'))
    text.remove_suffix(1);
  if (!text.empty()) {
    const char unit = static_cast<char>(text.back() | 0x20);
    if (unit == 'k') factor = 1024.0;
    if (unit == 'm') factor = 1048576.0;
    if (unit == 'g') factor = 1073741824.0;
    if (factor > 1) text.remove_suffix(1);
  }
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto number = parse_real(text);
  if (!number.ok() || !(number.value() >= 0) || number.value() > 1e15) return std::nullopt;
  return number.value() * factor;
}

Result<NodeDescription> node_of(const YamlNode& node, const std::string& file) {
  NodeDescription found;
  const std::pair<std::string_view, std::optional<double>*> known[] = {
      {"cpus", &found.cores},
      {"memory", &found.memory_bytes},
      {"gpus", &found.gpus},
      {"gpu_memory", &found.gpu_memory_bytes},
      {"disk", &found.disk_bytes_per_s}};
  for (const auto& [key, value] : node.members) {
    const auto wrong = [&file, line = value.line](const std::string& why) {
      return Error{Code::kInvalid, fmt::format("{}:{}: {}", file, line, why),
                   "a node has name, cpus, memory, gpus, gpu_memory and disk"};
    };
    if (key == "name") {
      found.name = value.text;
      continue;
    }
    std::optional<double>* place = nullptr;
    for (const auto& [name, member] : known)
      if (name == key) place = member;
    if (place == nullptr) return wrong("a node has no " + printable(key));
    *place = amount_of(value.text);
    if (!*place) return wrong("'" + printable(value.text) + "' is no amount");
  }
  if (found.name.empty())
    return Error{Code::kInvalid, fmt::format("{}:{}: a node has a name", file, node.line),
                 "nodes: [{name: edge, cpus: 4, memory: 8g}]"};
  return found;
}

}  // namespace

Result<std::vector<NodeDescription>> load_nodes(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, size_t{1} << 20));
  const std::string file = printable(path);
  auto parsed = parse_yaml(text);
  if (!parsed.ok()) return std::move(parsed).error().within(file);
  const YamlNode& root = parsed.value();
  const YamlNode* list = root.kind == YamlNode::Kind::kMap ? root.find("nodes") : &root;
  if (list == nullptr || list->kind != YamlNode::Kind::kList || list->items.empty())
    return Error{Code::kInvalid, file + " describes no nodes",
                 "nodes: [{name: edge, cpus: 4, memory: 8g}]"};
  std::vector<NodeDescription> nodes;
  for (const YamlNode& each : list->items) {
    TRY_ASSIGN(NodeDescription node, node_of(each, file));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

NodeFit check_fit(const NodeDescription& node, const SizingFigures& figures,
                  const SizingAdvice& advice) {
  NodeFit fit{node.name, NodeFit::Verdict::kFits, {}};
  std::vector<std::string> missing, used, unknown;
  const auto check = [&](const char* what, const char* of, const std::optional<double>& need,
                         const std::optional<double>& there, const auto& text,
                         const std::string& note = {}) {
    if (!there) return;
    if (!need) {
      unknown.push_back(std::string(what) + ": not measured");
    } else if (*need > *there) {
      missing.push_back(fmt::format("{}: {}{}{}, has {}", what, of, text(*need),
                                    note.empty() ? "" : " (" + note + ")", text(*there)));
    } else if (*need > 0) {
      used.push_back(fmt::format("{:.0f} % of its {} ({}{} of {}{})", 100 * *need / *there, what,
                                 of, text(*need), text(*there), note.empty() ? "" : "; " + note));
    }
  };
  const auto cores = [](double value) { return fmt::format("{:.2f}", value); };
  const auto bytes = [](double value) { return format_bytes(value); };
  const auto rate = [](double value) { return format_bytes(value) + "/s"; };
  const auto count = [](double value) { return fmt::format("{:g}", value); };
  check("cores", "request ", advice.request_cores, node.cores, cores);
  check("memory", "request ", advice.request_bytes, node.memory_bytes, bytes,
        figures.peak_memory_bytes ? "needed " + format_bytes(*figures.peak_memory_bytes) : "");
  check("GPUs", "", advice.gpus, node.gpus, count);
  check("GPU memory", "", figures.gpu_memory_bytes.value_or(0), node.gpu_memory_bytes, bytes);
  std::optional<double> disk;
  if (figures.disk_read && figures.disk_written) disk = *figures.disk_read + *figures.disk_written;
  check("disk", "", disk, node.disk_bytes_per_s, rate);
  if (!missing.empty()) {
    fit.verdict = NodeFit::Verdict::kDoesNotFit;
    fit.reasons = missing;
    return fit;
  }
  if (!unknown.empty()) fit.verdict = NodeFit::Verdict::kUnknown;
  fit.reasons = used;
  fit.reasons.insert(fit.reasons.end(), unknown.begin(), unknown.end());
  if (node.memory_bytes && advice.limit_bytes.value_or(0) > *node.memory_bytes)
    fit.reasons.push_back("its limit of " + format_bytes(*advice.limit_bytes) +
                          " exceeds the memory");
  return fit;
}

}  // namespace fathom
