// SPDX-License-Identifier: Apache-2.0
#include "report/contribution.h"

#include <set>

namespace fathom {
namespace {

std::string_view without_frames(std::string_view text, size_t frames) {
  for (; frames > 0; --frames) {
    const size_t end = text.find(';');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

void remove_all(std::string& text, std::string_view part) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

// Once from left to right, as sed does with s/…/…/g.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

void collapse(std::string& text, char repeated) {
  std::string out;
  for (const char c : text) {
    if (c != repeated || out.empty() || out.back() != repeated) out += c;
  }
  text = std::move(out);
}

}  // namespace

std::string clean_trace(std::string_view folded) {
  std::string text(without_frames(folded, 2));
  const size_t open = text.find('['), close = text.rfind(']');
  if (open != std::string::npos && close != std::string::npos && open < close)
    text.erase(open, close + 1 - open);
  remove_all(text, "Interpreter");
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  replace_all(text, "..", ".");
  collapse(text, ';');
  if (text.starts_with(';')) text.erase(0, 1);
  return text;
}

void Traces::add(std::string_view folded, const Weight& sum) {
  Seen& seen = stacks[clean_trace(folded)];
  ++seen.lines;
  seen.sum += sum;
}

std::vector<CompatibleShare> compatible_shares(const std::vector<Traces>& configurations) {
  std::vector<CompatibleShare> shares(configurations.size());
  std::map<std::string_view, int64_t> together;
  for (size_t i = 0; i < configurations.size(); ++i) {
    for (const auto& [stack, seen] : configurations[i].stacks) {
      if (seen.lines != 1) continue;
      ++shares[i].mine;
      ++together[stack];
    }
  }
  int64_t all = 0;
  for (const auto& [stack, times] : together) all += times == 1 ? 1 : 0;
  for (CompatibleShare& share : shares) share.all = all;
  return shares;
}

Contributions contributions(const std::vector<Traces>& configurations) {
  struct Union {
    size_t owners = 0;
    Weight samples = {};
  };
  std::map<std::string_view, Union> all;
  Contributions result;
  for (const Traces& traces : configurations) {
    for (const auto& [stack, seen] : traces.stacks) {
      if (stack.empty()) continue;  // nothing is left of it
      ++all[stack].owners;
      all[stack].samples += seen.sum;
    }
  }
  for (const Traces& traces : configurations) {
    StackContribution& mine = result.each.emplace_back();
    for (const auto& [stack, seen] : traces.stacks) {
      if (stack.empty()) continue;
      const Union& shared = all[stack];
      ++mine.distinct;
      mine.samples += seen.sum;
      mine.covered_samples += shared.samples;
      mine.common += shared.owners == configurations.size() ? 1 : 0;
      if (shared.owners > 1) continue;
      ++mine.exclusive;
      mine.exclusive_samples += seen.sum;
    }
  }
  for (const auto& [stack, shared] : all) {
    ++result.distinct;
    result.samples += shared.samples;
    result.common += shared.owners == configurations.size() ? 1 : 0;
  }
  return result;
}

}  // namespace fathom
