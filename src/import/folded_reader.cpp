// SPDX-License-Identifier: Apache-2.0
#include "import/folded_reader.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "base/flat_index.h"
#include "import/folded_line.h"

namespace fathom {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kLongestLine = size_t{64} << 20;
constexpr int64_t kMostWeight = int64_t{1} << 53;  // what a page's script can count exactly

uint64_t hash_of(std::string_view text) {
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  return hash != 0 ? hash : 1;  // 0 is no key
}

class FoldedSums {
 public:
  explicit FoldedSums(SampleSums& sums)
      : sums_(sums), event_(sums.interner().string(kFoldedEvent)), path_{{0, 0}} {}

  void take(std::string_view text) {
    ++number_;
    if (text.empty() || text == "\r") return;
    const auto line = parse_folded_line(text);
    if (!line || line->count > kMostWeight) {
      if (++counts_.skipped == 1) counts_.first_skipped = number_;
      return;
    }
    ++counts_.lines;
    total_ = std::min(total_ + line->count, 2 * kMostWeight);
    const auto [place, added] =
        stacks_.insert(hash_of(line->stack), static_cast<uint32_t>(weights_.size()));
    if (added) weights_.push_back({stack_of(line->stack), 0});
    weights_[place].weight += line->count;
  }

  Result<ImportCounts> finish(const std::string& path) {
    if (counts_.lines == 0 && counts_.skipped > 0) {
      return Error{Code::kCorrupt,
                   path + " holds no folded stack: line " + std::to_string(counts_.first_skipped) +
                       " does not end in a count",
                   "a line is frames joined by ';', a blank and a count: main;work;read 17"};
    }
    if (counts_.lines == 0)
      return Error{Code::kCorrupt, path + " is empty",
                   "a line is frames joined by ';', a blank and a count: main;work;read 17"};
    if (total_ > kMostWeight)
      return Error{Code::kCorrupt, path + " holds counts that add up beyond 2^53"};
    for (const StackWeight& stack : weights_) {
      sums_.add_sum({.stack = stack.stack,
                     .event = event_,
                     .weight = stack.weight,
                     .samples = stack.weight,
                     .squares = static_cast<double>(stack.weight)},
                    false);
    }
    return counts_;
  }

 private:
  struct StackWeight {
    uint32_t stack;
    int64_t weight;
  };
  // A place in the last stack's text that is the end of a frame, and the stack up to there.
  struct Step {
    size_t end;
    uint32_t stack;
  };

  // Neighbours mostly begin alike: what the last stack has in common with this one stays.
  uint32_t stack_of(std::string_view text) {
    const size_t least = std::min(text.size(), last_.size());
    const auto same = static_cast<size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(least),
                      last_.begin())
            .first -
        text.begin());
    const auto holds = [&](size_t end) {
      return end <= same && (end == text.size() || text[end] == ';');
    };
    while (path_.size() > 1 && !holds(path_.back().end)) path_.pop_back();
    size_t at = path_.back().end;
    while (at < text.size()) {
      if (text[at] == ';') ++at;
      const size_t end = std::min(text.find(';', at), text.size());
      const uint32_t parent = path_.back().stack;
      path_.push_back(
          {end, end > at ? sums_.stack(parent, frame_of(text.substr(at, end - at))) : parent});
      at = end;
    }
    last_.assign(text);
    return path_.back().stack;
  }

  FrameId frame_of(std::string_view text) {
    const auto [place, added] =
        frame_index_.insert(hash_of(text), static_cast<uint32_t>(frames_.size()));
    if (added) {
      const FoldedFrame frame = parse_folded_frame(text);
      frames_.push_back(
          sums_.frame({.symbol = sums_.interner().string(frame.name), .kind = frame.kind}));
    }
    return frames_[place];
  }

  SampleSums& sums_;
  StringId event_;
  FlatIndex stacks_, frame_index_;  // by the hash of their text
  std::vector<StackWeight> weights_;
  std::vector<FrameId> frames_;
  std::vector<Step> path_;
  std::string last_;
  int64_t total_ = 0;
  int64_t number_ = 0;  // of lines so far
  ImportCounts counts_;
};

// Calls `take` for each line of the file, also for a last one without an end.
template <class Take>
Status each_line(int fd, const std::string& path, Take take) {
  std::vector<char> buffer(kBlockBytes);
  size_t kept = 0;  // of a line whose end is not there yet
  while (true) {
    if (kept == buffer.size()) {
      if (kept >= kLongestLine) return Error{Code::kCorrupt, path + " holds a line without end"};
      buffer.resize(buffer.size() * 2);
    }
    const ssize_t got = read(fd, buffer.data() + kept, buffer.size() - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path);
    if (got == 0) break;
    const char* at = buffer.data();
    const char* end = buffer.data() + kept + got;
    while (const auto* stop =
               static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)))) {
      take(std::string_view(at, static_cast<size_t>(stop - at)));
      at = stop + 1;
    }
    kept = static_cast<size_t>(end - at);
    std::memmove(buffer.data(), at, kept);
  }
  if (kept > 0) take(std::string_view(buffer.data(), kept));
  return {};
}

}  // namespace

Status each_folded_line(const std::string& path, const VisitFoldedLine& visit) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  int64_t lines = 0;
  TRY(each_line(file.get(), path, [&](std::string_view text) {
    auto line = parse_folded_line(text);
    if (line && line->count > kMostWeight) line.reset();
    lines += line ? 1 : 0;
    visit(text, line);
  }));
  if (lines == 0) return Error{Code::kCorrupt, path + " holds no folded stack"};
  return {};
}

Result<ImportCounts> read_folded(const std::string& path, SampleSums& sums) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  FoldedSums folded(sums);
  TRY(each_line(file.get(), path, [&](std::string_view line) { folded.take(line); }));
  return folded.finish(path);
}

}  // namespace fathom
