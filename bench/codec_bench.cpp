// SPDX-License-Identifier: Apache-2.0
// What a record costs in bytes and CPU time as a frame, beside the same spans as row-wise protobuf
// and as JSON lines (as .pfw files hold them), both through zstd -1 in one stream.
//
//   build/release/bench/codec_bench [MILLIONS] [spans|samples|counters]...      (10 million of each
//   unless told)
//
// The generator (seed 42, so that runs agree): 16 threads of 4 processes, 64 functions and 1,000
// files drawn by Zipf's law. Times are nanoseconds, gaps exponential, durations log-normal; the
// entropy of both is printed as measured, and must be 10 bits at least.
// Spans: a mean of 1,500 ns apart, around a median of the function; half of the functions move
// bytes: 4,096, 65,536 or any number below 65,536; one call in 64 fails.
// Samples: 16 cores at 999 Hz, and a third as many waits off CPU, whose weight is their length; one
// of 5,000 stacks, drawn by Zipf's law, 12 to 40 deep, over 3,000 symbols.
// Counters: slices of 100 ms (so that gaps there are none), times summed over 1 to 20 calls, with
// their histogram.
// Batches are RecordStream's: as many records as it holds, or those of a second. Rates are by the
// CPU time of the one thread that works; what makes the records is not counted.
#include <fmt/format.h>
#include <zstd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <protozero/pbf_writer.hpp>

#include "base/clock.h"
#include "record/frame.h"
#include "record/sample_order.h"
#include "sink/record_stream.h"

namespace fathom {
namespace {

constexpr int kThreads = 16;
constexpr int kFunctions = 64;
constexpr int kFiles = 1000;
constexpr int kStacks = 5000;
constexpr int kSymbols = 3000;
constexpr double kGoalBytes = 8;
constexpr double kGoalRate = 5e6;
constexpr double kGoalEntropyBits = 10;
constexpr size_t kEntropyRecords = 1'000'000;

// Draws 0 … n - 1, number k with a weight of 1 / (k + 1).
class Zipf {
 public:
  explicit Zipf(int n) {
    std::vector<double> weights;
    weights.reserve(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) weights.push_back(1.0 / (i + 1));
    draw_ = std::discrete_distribution<size_t>(weights.begin(), weights.end());
  }
  size_t operator()(std::mt19937_64& random) { return draw_(random); }

 private:
  std::discrete_distribution<size_t> draw_;
};

class Generator {
 public:
  explicit Generator(int cores = kThreads) : sample_gap_ns_(1e9 / (999 * cores) * 3 / 4) {
    for (int i = 0; i < kThreads; ++i) threads_.push_back(names_.thread(4000 + i / 4, 4000 + i));
    for (int i = 0; i < kFunctions; ++i) {
      functions_.push_back(names_.string(fmt::format("function_{:02}", i)));
      medians_.push_back(std::log(800.0 * std::pow(1.08, (i * 29) % kFunctions)));
    }
    for (int i = 0; i < kFiles; ++i) {
      files_.push_back(names_.string(fmt::format("/data/set-{}/part-{:05}.bin", i % 7, i)));
    }
    sys_ = names_.string("sys");
    event_ = names_.string("cpu-clock");
    on_cpu_ = names_.string("on-cpu");
    off_cpu_ = names_.string("off-cpu");
    switch_ = names_.string("sched_switch");
    for (const char* reason : {"futex", "io", "sleep", "preempted"})
      reasons_.push_back(names_.string(reason));
    make_stacks();
  }

  void add(Rows& rows, Span*) { rows.of<Span>().push_back(span()); }
  void add(Rows& rows, Sample*) { rows.of<Sample>().push_back(sample()); }
  void add(Rows& rows, Counter*) { rows.of<Counter>().push_back(counter(rows)); }
  [[nodiscard]] int64_t time_ns() const { return time_ns_; }
  [[nodiscard]] const Dictionary& dictionary() const { return names_.dictionary(); }

 private:
  static std::string symbol_name(int i) {
    static constexpr std::array kSpaces = {"std", "engine", "net", "io", "codec", "query", "cache"};
    static constexpr std::array kClasses = {"HashTable", "Buffer", "Reader", "Index",
                                            "Session",   "Plan",   "Block",  "Stream"};
    static constexpr std::array kVerbs = {"insert", "find", "read_next", "update", "visit"};
    const auto n = static_cast<size_t>(i);
    return fmt::format("{}::{}<{}>::{}", kSpaces[n % kSpaces.size()], kClasses[n % kClasses.size()],
                       n / 40, kVerbs[n % kVerbs.size()]);
  }

  // Stacks that share callers: each leaves the one before up to 8 frames above its leaf and goes on
  // from there.
  void make_stacks() {
    std::vector<FrameId> frames;
    const StringId module = names_.string("/usr/bin/program");
    for (int i = 0; i < kSymbols; ++i) {
      Frame frame;
      frame.symbol = names_.string(symbol_name(i));
      frame.module = module;
      frame.kind = FrameKind::kNative;
      frames.push_back(names_.frame(frame));
    }
    std::vector<StackId> path;
    Zipf symbol(kSymbols);
    while (stacks_.size() < kStacks) {
      const auto leave = static_cast<size_t>(below(9));
      path.resize(path.size() > 32 ? 20 : path.size() - std::min(path.size(), leave));
      const size_t depth = std::max<size_t>(12, path.size() + 1 + static_cast<size_t>(below(8)));
      while (path.size() < depth) {
        const StackId caller = path.empty() ? StackId::kNone : path.back();
        path.push_back(names_.stack(caller, frames[symbol(random_)]));
      }
      stacks_.push_back(path.back());
    }
  }

  int64_t gap(double mean_ns) { return std::llround(-mean_ns * std::log(1.0 - uniform_(random_))); }
  int64_t duration(size_t function) {
    return std::llround(std::exp(medians_[function] + 0.9 * normal_(random_)));
  }
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  int64_t size() {
    const int64_t kind = below(4);
    return kind < 2 ? 4096 : kind == 2 ? 65536 : below(65536);
  }

  Span span() {
    const size_t function = function_(random_);
    Span span;
    span.start_ns = time_ns_ += gap(1500);
    span.duration_ns = duration(function);
    span.thread = threads_[static_cast<size_t>(below(kThreads))];
    span.layer = sys_;
    span.name = functions_[function];
    span.file = files_[file_(random_)];
    span.result = 0;
    if (function % 2 == 0) span.result = *(span.bytes = size());
    if (below(64) == 0) {
      span.result = -11;
      span.bytes = Maybe();
    }
    return span;
  }

  Sample sample() {
    Sample sample;
    const auto thread = static_cast<size_t>(below(kThreads));
    sample.time_ns = time_ns_ += gap(sample_gap_ns_);
    sample.thread = threads_[thread];
    sample.cpu = static_cast<int64_t>((thread + static_cast<size_t>(time_ns_ >> 28)) % kThreads);
    sample.stack = stacks_[stack_(random_)];
    if (below(4) == 0) {
      sample.event = switch_;
      sample.state = off_cpu_;
      sample.reason = reasons_[static_cast<size_t>(below(4))];
      sample.weight = std::llround(std::exp(std::log(50'000.0) + 1.5 * normal_(random_)));
    } else {
      sample.event = event_;
      sample.rate_hz = 999;
      sample.weight = 1'001'001;
      sample.state = on_cpu_;
    }
    return sample;
  }

  Counter counter(Rows& rows) {
    const size_t function = function_(random_);
    Counter counter;
    counter.slice_ns = (time_ns_ += gap(12'000)) / (100 * kNsPerMs) * (100 * kNsPerMs);
    counter.slice_length_ns = 100 * kNsPerMs;
    counter.thread = threads_[static_cast<size_t>(below(kThreads))];
    counter.layer = sys_;
    counter.name = functions_[function];
    counter.file = files_[file_(random_)];
    counter.count = 1 + below(20);
    counter.errors = below(64) == 0 ? 1 : 0;
    int64_t total = 0;
    std::array<int64_t, 32> buckets{};
    size_t length = 0;
    for (int64_t i = 0; i < counter.count; ++i) {
      const int64_t took = duration(function);
      const auto bucket =
          static_cast<size_t>(std::min(31, std::max(0, static_cast<int>(std::log2(took + 1)))));
      total += took;
      ++buckets[bucket];
      length = std::max(length, bucket + 1);
    }
    counter.time_ns = counter.self_time_ns = total;
    if (function % 2 == 0) counter.bytes = counter.count * size();
    counter.latency = {static_cast<uint32_t>(rows.buckets.size()), static_cast<uint32_t>(length)};
    rows.buckets.insert(rows.buckets.end(), buckets.begin(),
                        buckets.begin() + static_cast<ptrdiff_t>(length));
    return counter;
  }

  Interner names_;
  std::vector<ThreadId> threads_;
  std::vector<StringId> functions_, files_, reasons_;
  std::vector<double> medians_;
  std::vector<StackId> stacks_;
  StringId sys_{}, event_{}, on_cpu_{}, off_cpu_{}, switch_{};
  double sample_gap_ns_;
  int64_t time_ns_ = 86'400 * kNsPerSecond;
  std::mt19937_64 random_{42};
  std::uniform_real_distribution<double> uniform_;
  std::normal_distribution<double> normal_;
  Zipf function_{kFunctions}, file_{kFiles}, stack_{kStacks};
};

int64_t cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// Bytes and CPU time of one way to write, and of reading it where that was measured.
struct Cost {
  int64_t records = 0, bytes = 0, write_ns = 0, read_ns = 0;

  [[nodiscard]] double bytes_each() const {
    return static_cast<double>(bytes) / static_cast<double>(records);
  }
  [[nodiscard]] double rate(int64_t ns) const {
    return static_cast<double>(records) * 1e9 / static_cast<double>(ns);
  }
  void print(std::string_view what) const {
    fmt::print("{:<28} {:>5.1f} M  {:>7.2f} bytes each  written {:>6.2f} M/s", what,
               static_cast<double>(records) / 1e6, bytes_each(), rate(write_ns) / 1e6);
    if (read_ns > 0) fmt::print("  read {:>6.2f} M/s", rate(read_ns) / 1e6);
    fmt::print("\n");
  }
};

// zstd -1 over everything, as a program that writes one compressed file does.
class ZstdStream {
 public:
  ZstdStream() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx), out_(ZSTD_CStreamOutSize()) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 1);
  }
  size_t add(std::string_view text, ZSTD_EndDirective how = ZSTD_e_continue) {
    size_t bytes = 0;
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &out, &in, how);
      bytes += out.pos;
    } while (in.pos < in.size || (how == ZSTD_e_end && left != 0));
    return bytes;
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::vector<char> out_;
};

// A message a span, as a generic protobuf logger writes it; strings are numbers of a table written
// once.
void append_row(std::string& out, const Span& span) {
  protozero::pbf_writer file(out);
  protozero::pbf_writer row(file, 1);
  row.add_uint64(1, static_cast<uint64_t>(span.start_ns));
  row.add_uint64(2, static_cast<uint64_t>(span.duration_ns));
  row.add_uint32(3, static_cast<uint32_t>(span.thread));
  row.add_uint32(4, static_cast<uint32_t>(span.layer));
  row.add_uint32(5, static_cast<uint32_t>(span.name));
  if (span.bytes) row.add_sint64(6, *span.bytes);
  row.add_uint32(7, static_cast<uint32_t>(span.file));
  if (span.result) row.add_sint64(8, *span.result);
}

// A line a span, in the manner of DFTracer's .pfw and Chrome's trace events (times in µs with three
// decimals).
void append_json(std::string& out, const Span& span, const Dictionary& names, int64_t index) {
  const ThreadKey& thread = names.threads[index_of(span.thread)];
  fmt::format_to(
      std::back_inserter(out),
      R"({{"id":{},"name":"{}","cat":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"ph":"X",)"
      R"("args":{{"fname":"{}")",
      index, names.text(span.name), names.text(span.layer), thread.pid, thread.tid,
      span.start_ns / 1000, span.start_ns % 1000, span.duration_ns / 1000, span.duration_ns % 1000,
      names.text(span.file));
  if (span.bytes) fmt::format_to(std::back_inserter(out), R"(,"size":{})", *span.bytes);
  if (span.result) fmt::format_to(std::back_inserter(out), R"(,"ret":{})", *span.result);
  out += "}}\n";
}

// One peer: formats each batch with append(text, span, index) and compresses the lot.
template <class Append>
class Peer {
 public:
  explicit Peer(Append append) : append_(append) {}

  void add(const std::vector<Span>& spans) {
    const int64_t start = cpu_ns();
    text_.clear();
    for (const Span& span : spans) append_(text_, span, cost_.records++);
    cost_.bytes += static_cast<int64_t>(zstd_.add(text_));
    cost_.write_ns += cpu_ns() - start;
  }
  const Cost& finish() {
    cost_.bytes += static_cast<int64_t>(zstd_.add({}, ZSTD_e_end));
    return cost_;
  }

 private:
  Append append_;
  ZstdStream zstd_;
  std::string text_;
  Cost cost_;
};

class OurCost {
 public:
  template <class Record>
  bool add(const Dictionary& names, Rows& rows) {
    int64_t start = cpu_ns();
    order_.apply(rows.of<Sample>());
    const auto frame = encoder_.encode(names, rows);
    cost_.write_ns += cpu_ns() - start;
    if (!frame.ok()) return false;
    start = cpu_ns();
    const auto batch = decode_frame(frame.value());
    cost_.read_ns += cpu_ns() - start;
    cost_.records += static_cast<int64_t>(rows.count());
    cost_.bytes += static_cast<int64_t>(frame.value().size());
    return batch.ok() && batch.value().rows.of<Record>().size() == rows.of<Record>().size();
  }
  [[nodiscard]] const Cost& cost() const { return cost_; }

 private:
  SampleOrder order_;
  FrameEncoder encoder_;
  Cost cost_;
};

// Shannon's entropy of the values, each taken for a letter. From a million of them it comes out too
// low for wide distributions, never too high.
double entropy_bits(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  const auto total = static_cast<double>(values.size());
  double bits = 0;
  for (size_t i = 0; i < values.size();) {
    const size_t first = i;
    while (i < values.size() && values[i] == values[first]) ++i;
    const double share = static_cast<double>(i - first) / total;
    bits -= share * std::log2(share);
  }
  return bits;
}

void judge(std::string_view what, double is, double goal, bool holds) {
  fmt::print("  {}: {:.2f}, goal {:.2f}: {}\n", what, is, goal, holds ? "holds" : "MISSED");
}

int64_t moment(const Span& span) { return span.start_ns; }
int64_t moment(const Sample& sample) { return sample.time_ns; }
int64_t moment(const Counter&) { return 0; }
Maybe length(const Span& span) { return span.duration_ns; }
Maybe length(const Sample& sample) { return sample.rate_hz == 0 ? Maybe(sample.weight) : Maybe(); }
Maybe length(const Counter& counter) { return counter.time_ns; }

// How hard the generator makes it.
template <class Record>
void print_entropy() {
  Generator generator;
  Rows rows;
  for (size_t i = 0; i < kEntropyRecords; ++i) generator.add(rows, static_cast<Record*>(nullptr));
  std::vector<int64_t> gaps;
  std::vector<int64_t> lengths;
  const std::vector<Record>& list = rows.of<Record>();
  for (size_t i = 1; i < list.size(); ++i) {
    gaps.push_back(moment(list[i]) - moment(list[i - 1]));
    if (const Maybe took = length(list[i])) lengths.push_back(*took);
  }
  const auto show = [](std::string_view what, std::vector<int64_t>& values) {
    const double bits = entropy_bits(values);
    judge(what, bits, kGoalEntropyBits, bits >= kGoalEntropyBits);
  };
  if constexpr (!std::is_same_v<Record, Counter>) show("bits of entropy in gaps", gaps);
  show("bits of entropy in durations", lengths);
}

// Calls each(rows) batch by batch until `count` records were made.
template <class Record, class Each>
bool batches(Generator& generator, int64_t count, Each&& each) {
  Rows rows;
  for (int64_t left = count; left > 0; left -= static_cast<int64_t>(rows.count())) {
    rows.clear();
    const int64_t most = std::min(left, RecordStream::kBatchRecords);
    const int64_t until_ns = generator.time_ns() + kNsPerSecond;
    for (int64_t i = 0; i < most && generator.time_ns() < until_ns; ++i)
      generator.add(rows, static_cast<Record*>(nullptr));
    if (!each(rows)) return false;
  }
  return true;
}

template <class Record>
void judge_cost(const Cost& cost) {
  cost.print(fmt::format("{} as frames", TableOf<Record>::kName));
  print_entropy<Record>();
  // A counter stands for many calls and carries their histogram: no goal was set for its bytes.
  if constexpr (!std::is_same_v<Record, Counter>)
    judge("bytes each", cost.bytes_each(), kGoalBytes, cost.bytes_each() <= kGoalBytes);
  judge("million/s written", cost.rate(cost.write_ns) / 1e6, kGoalRate / 1e6,
        cost.rate(cost.write_ns) >= kGoalRate);
}

template <class Record>
bool bench(int64_t count) {
  Generator generator;
  OurCost ours;
  if (!batches<Record>(generator, count, [&](Rows& rows) {
        return ours.add<Record>(generator.dictionary(), rows);
      })) {
    return false;
  }
  judge_cost<Record>(ours.cost());
  return true;
}

// A frame a second is made however few its samples are, with all their names: fewer cost more each.
bool bench_fewer_samples(int64_t count) {
  bool good = true;
  for (const int cores : {8, 4, 1}) {
    Generator generator(cores);
    OurCost ours;
    good = good && batches<Sample>(generator, count / 10, [&](Rows& rows) {
             return ours.add<Sample>(generator.dictionary(), rows);
           });
    ours.cost().print(fmt::format("  the same of {} core{}", cores, cores == 1 ? "" : "s"));
  }
  return good;
}

template <>
bool bench<Span>(int64_t count) {
  Generator generator;
  const Dictionary& names = generator.dictionary();
  OurCost ours;
  Peer rows_peer([](std::string& out, const Span& span, int64_t) { append_row(out, span); });
  Peer json_peer([&](std::string& out, const Span& span, int64_t index) {
    append_json(out, span, names, index);
  });
  const bool good = batches<Span>(generator, count, [&](Rows& rows) {
    rows_peer.add(rows.of<Span>());
    json_peer.add(rows.of<Span>());
    return ours.add<Span>(names, rows);
  });
  if (!good) return false;
  const Cost& cost = ours.cost();
  judge_cost<Span>(cost);
  const auto compare = [&](std::string_view what, const Cost& peer) {
    peer.print(what);
    fmt::print("  ratio to frames: {:.2f} times the bytes, {:.2f} times the CPU time to write\n",
               peer.bytes_each() / cost.bytes_each(),
               static_cast<double>(peer.write_ns) / static_cast<double>(cost.write_ns));
  };
  compare("spans as protobuf rows, zstd", rows_peer.finish());
  compare("spans as JSON lines, zstd", json_peer.finish());
  return true;
}

int main_of(int argc, char** argv) {
  const int64_t millions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  const auto wanted = [&](const char* table) {
    for (int i = 2; i < argc; ++i) {
      if (std::strcmp(argv[i], table) == 0) return true;
    }
    return argc <= 2;
  };
  const int64_t count = millions * 1'000'000;
  bool good = true;
  if (wanted("spans")) good = bench<Span>(count) && good;
  if (wanted("samples")) good = bench<Sample>(count) && bench_fewer_samples(count) && good;
  if (wanted("counters")) good = bench<Counter>(count) && good;
  fmt::print("again with: build/release/bench/codec_bench {}\n", millions);
  if (!good) fmt::print(stderr, "a frame did not come back as it went\n");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) { return fathom::main_of(argc, argv); }
