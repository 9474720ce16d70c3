// SPDX-License-Identifier: Apache-2.0
#include "report/contribution.h"

#include <set>

namespace fathom {
namespace {

// As ${line#*;} in a shell: a text without ";" stays.
std::string_view without_frame(std::string_view text) {
  const size_t end = text.find(';');
  return end == std::string_view::npos ? text : text.substr(end + 1);
}

void remove_all(std::string& text, std::string_view part) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

// ".." becomes ".", once from left to right, as sed does with s/…/…/g.
void collapse_dots(std::string& text) {
  for (size_t at = 0; (at = text.find("..", at)) != std::string::npos; ++at) text.erase(at, 1);
}

void collapse(std::string& text, char repeated) {
  std::string out;
  for (const char c : text) {
    if (c != repeated || out.empty() || out.back() != repeated) out += c;
  }
  text = std::move(out);
}

// What the tool does after it has removed frames and the count.
std::string cleaned(std::string_view frames) {
  std::string text(frames);
  const size_t open = text.find('['), close = text.rfind(']');
  if (open != std::string::npos && close != std::string::npos && open < close)
    text.erase(open, close + 1 - open);
  remove_all(text, "Interpreter");
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  collapse_dots(text);
  collapse(text, ';');
  if (text.starts_with(';')) text.erase(0, 1);
  return text;
}

}  // namespace

std::string clean_trace(std::string_view folded) {
  return cleaned(without_frame(without_frame(folded)));
}

void Traces::add(std::string_view folded, const Weight& sum) {
  ++lines[clean_trace(folded)];
  add_samples(folded, sum);
}

void Traces::add_line(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  line = without_frame(without_frame(line));  // before the count, which may be all that follows
  ++lines[cleaned(line.substr(0, line.rfind(' ')))];
}

void Traces::add_samples(std::string_view folded, const Weight& sum) {
  stacks[clean_trace(folded)] += sum;
}

std::vector<CompatibleShare> compatible_shares(const std::vector<Traces>& configurations) {
  std::vector<CompatibleShare> shares(configurations.size());
  std::map<std::string_view, int64_t> together;
  for (size_t i = 0; i < configurations.size(); ++i) {
    for (const auto& [stack, times] : configurations[i].lines) {
      if (times != 1) continue;
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
    for (const auto& [stack, samples] : traces.stacks) {
      if (stack.empty()) continue;
      ++all[stack].owners;
      all[stack].samples += samples;
    }
  }
  for (const Traces& traces : configurations) {
    StackContribution& mine = result.each.emplace_back();
    for (const auto& [stack, samples] : traces.stacks) {
      if (stack.empty()) {
        mine.emptied += samples;
        result.emptied += samples;
        continue;
      }
      const Union& shared = all[stack];
      ++mine.distinct;
      mine.samples += samples;
      mine.covered_samples += shared.samples;
      mine.common += shared.owners == configurations.size() ? 1 : 0;
      if (shared.owners > 1) continue;
      ++mine.exclusive;
      mine.exclusive_samples += samples;
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
