// SPDX-License-Identifier: Apache-2.0
#include "import/pfw_importer.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/gzip.h"
#include "base/scan.h"
#include "base/simdjson.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

// A time of so many microseconds would be long after us: it is nanoseconds since 1970.
constexpr double kSurelyNs = 1e17;
// Times since 1970, not since the start.
constexpr double kSurelyEpochUs = 1e14;
// A size that is more was a negative return code.
constexpr double kMostBytes = 4e18;
constexpr int64_t kMostBusyNs = INT64_MAX / 4;
constexpr size_t kMostHashes = size_t{1} << 22;
constexpr int kMostDigits = 18;  // of a number that 64 bits surely hold
constexpr std::array<std::string_view, 4> kHostCategories = {"CPU", "Memory", "Disk", "Network"};

// The end of the name of a value that adds up; it stays the end.
constexpr std::string_view kTotal = "_total";

// Members of args that are the same for all series of a file, or have a column of their own.
constexpr std::array<std::string_view, 5> kNoSeries = {"unit", "hostname", "hhash", "fname",
                                                       "fhash"};

constexpr std::string_view kOwnLayers[] = {
    "app",    "mpi",   "c",       "sys",   "io_uring", "vfs",  "os_cache",
    "faults", "block", "python",  "cuda",  "ext4",     "xfs",  "btrfs",
    "nfs",    "fuse",  "overlay", "tmpfs", "f2fs",     "jbd2", "writeback"};

std::string_view without_commas(std::string_view text) {
  text = trimmed(text);
  while (text.ends_with(',')) text = trimmed(text.substr(0, text.size() - 1));
  return text;
}

// 128-bit hashes stand there as numbers: as text they can be read.
std::string with_long_numbers_quoted(std::string_view line) {
  std::string text;
  bool in_string = false;
  for (size_t i = 0; i < line.size();) {
    const char byte = line[i];
    if (byte == '"' && (i == 0 || line[i - 1] != '\\')) in_string = !in_string;
    size_t end = i;
    while (!in_string && end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
    const bool is_long = end - i > kMostDigits && (end == line.size() || line[end] != '.');
    if (is_long) text += '"';
    const size_t length = std::max<size_t>(end - i, 1);
    text += line.substr(i, length);
    if (is_long) text += '"';
    i += length;
  }
  return text;
}

std::optional<double> number_in(const dom::object& object, std::string_view key) {
  double value = 0;
  if (object[key].get(value) != simdjson::SUCCESS || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Nanoseconds since 1970 have more digits than a double.
using Time = long double;

std::optional<Time> time_in(const dom::object& event) {
  int64_t whole = 0;
  if (event["ts"].get(whole) == simdjson::SUCCESS) return static_cast<Time>(whole);
  return number_in(event, "ts");
}

std::string_view text_in(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// A hash is text or a number.
std::string hash_in(const dom::object& object, std::string_view key) {
  dom::element element;
  if (object[key].get(element) != simdjson::SUCCESS || element.is_null()) return {};
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return std::string(text);
  uint64_t whole = 0;
  if (element.get(whole) == simdjson::SUCCESS) return std::to_string(whole);
  return {};
}

int64_t rounded(Time value) {
  return static_cast<int64_t>(std::llroundl(std::clamp(value, -9e18L, 9e18L)));
}

// "[libc.so.6]" and a layer of ours in brackets were layers here; any other category is one as it
// is.
std::string_view layer_of(std::string_view category) {
  if (category.size() < 3 || !category.starts_with('[') || !category.ends_with(']'))
    return category;
  const std::string_view module = category.substr(1, category.size() - 2);
  if (module == "libc.so.6") return "c";
  return std::find(std::begin(kOwnLayers), std::end(kOwnLayers), module) != std::end(kOwnLayers)
             ? module
             : category;
}

class PfwReader {
 public:
  explicit PfwReader(RecordStream& out) : out_(out) {}

  // Whether the line made sense.
  bool read(std::string_view line) {
    dom::object event;
    if (parser_.parse(line.data(), line.size()).get(event) != simdjson::SUCCESS) {
      quoted_ = with_long_numbers_quoted(line);
      if (parser_.parse(quoted_).get(event) != simdjson::SUCCESS) return false;
    }
    dom::object args;
    if (event["args"].get(args) != simdjson::SUCCESS) return false;
    const std::string_view phase = text_in(event, "ph");
    if (phase == "M") return read_hash(event, args);
    const auto time = time_in(event);
    if (!time || text_in(event, "name").empty()) return false;
    if (phase == "X") return read_call(event, args, *time);
    return phase == "C" && read_counter(event, args, *time);
  }

  [[nodiscard]] ImportCounts counts() const { return counts_; }
  void skip() { ++counts_.skipped; }
  void count() { ++counts_.lines; }

 private:
  bool read_hash(const dom::object& event, const dom::object& args) {
    const std::string_view kind = text_in(event, "name");
    const bool newer = kind == "SH";
    if (!newer && kind != "FH" && kind != "HH") return true;  // names of threads and such
    std::string hash = hash_in(args, newer ? "hash" : "value");
    const std::string_view text = text_in(args, newer ? "value" : "name");
    if (hash.empty()) return false;
    if (texts_.size() < kMostHashes) texts_.insert_or_assign(std::move(hash), std::string(text));
    return true;
  }

  // Nanoseconds from the first time of the file, or from its own start.
  int64_t moment(Time time) {
    const bool is_ns = time >= kSurelyNs;
    const Time ns = is_ns ? time : time * 1000;
    const bool since_1970 = is_ns || time >= kSurelyEpochUs;
    if (!base_ns_) base_ns_ = since_1970 ? ns : Time{0};
    nanoseconds_ = is_ns;
    const int64_t at_ns = rounded(ns - *base_ns_);
    first_ns_ = std::min(first_ns_, at_ns);
    return at_ns;
  }

  void end_at(int64_t at_ns) {
    last_ns_ = std::max(last_ns_, at_ns);
    counts_.range = {std::min(first_ns_, last_ns_), last_ns_};
  }

  template <class Record>
  void fill(const dom::object& event, const dom::object& args, Record& record) {
    const auto pid = number_in(event, "pid"), tid = number_in(event, "tid");
    if (pid) record.thread = out_.names().thread(rounded(*pid), rounded(tid.value_or(*pid)));
    const std::string_view category = text_in(event, "cat");
    std::string_view name = text_in(event, "name");
    if (name.size() > category.size() + 1 && name.ends_with(category) && category.starts_with('['))
      name = trimmed(name.substr(0, name.size() - category.size()));
    record.layer = out_.string(layer_of(category));
    record.name = out_.string(name);
    std::string_view file = text_in(args, "fname");
    if (const std::string hash = hash_in(args, "fhash"); file.empty() && !hash.empty()) {
      const auto known = texts_.find(hash);
      file = known != texts_.end() ? std::string_view(known->second) : hash;
      record.file = out_.string(file);
    } else {
      record.file = out_.string(file);
    }
  }

  // Absent: there is none, or it was a return code that was taken for a size.
  static Maybe bytes_in(const dom::object& args) {
    const auto bytes = number_in(args, "size_sum");
    if (!bytes || *bytes < 0 || *bytes >= kMostBytes) return std::nullopt;
    return rounded(*bytes);
  }

  bool read_call(const dom::object& event, const dom::object& args, Time time) {
    Span span;
    span.start_ns = moment(time);
    const double duration = std::max(number_in(event, "dur").value_or(0), 0.0);
    span.duration_ns = rounded(nanoseconds_ ? duration : duration * 1e3);
    fill(event, args, span);
    span.bytes = bytes_in(args);
    out_.add(span);
    end_at(span.start_ns + std::min<int64_t>(span.duration_ns, INT64_MAX / 4));
    return true;
  }

  bool read_counter(const dom::object& event, const dom::object& args, Time time) {
    auto count = number_in(args, "count");
    if (!count) count = number_in(args, "freq");
    if (!count) return read_gauges(event, args, time);
    if (*count < 0) return false;
    Counter counter;
    counter.slice_ns = moment(time);
    fill(event, args, counter);
    counter.count = rounded(*count);
    if (const auto seconds = number_in(args, "time"); seconds && *seconds >= 0)
      counter.time_ns = rounded(*seconds * 1e9);
    counter.bytes = bytes_in(args);
    out_.add(counter);
    end_at(counter.slice_ns + busy_ns(counter));
    return true;
  }

  // How long the slice was at least: a thread's calls of one layer came one after another.
  int64_t busy_ns(const Counter& counter) {
    auto& [slice_ns, sum_ns] = busy_[{counter.thread, counter.layer}];
    if (slice_ns != counter.slice_ns) sum_ns = 0;
    slice_ns = counter.slice_ns;
    const int64_t time_ns = std::clamp<int64_t>(counter.time_ns.value_or(0), 0, kMostBusyNs);
    sum_ns = std::min(sum_ns + time_ns, kMostBusyNs);
    return sum_ns;
  }

  // What tells one series from another of the same name: "{mount=/data}" of several disks. Empty:
  // nothing does.
  static std::string series_of(const dom::object& args) {
    std::string series;
    for (const dom::key_value_pair member : args) {
      std::string_view text;
      const bool known =
          std::find(kNoSeries.begin(), kNoSeries.end(), member.key) != kNoSeries.end();
      if (known || member.value.get(text) != simdjson::SUCCESS) continue;
      series += (series.empty() ? "{" : ",") + std::string(member.key) + "=" + std::string(text);
    }
    return series.empty() ? series : series + "}";
  }

  // Several hosts may share a file: those after the first are named.
  std::string scope_of(const dom::object& args) {
    std::string host(text_in(args, "hostname"));
    if (const std::string hash = hash_in(args, "hhash"); host.empty() && !hash.empty()) {
      const auto known = texts_.find(hash);
      host = known != texts_.end() ? known->second : hash;
    }
    if (host.empty()) return "host";
    if (!first_host_) first_host_ = host;
    return host == *first_host_ ? "host" : "host " + host;
  }

  // Values of the host.
  bool read_gauges(const dom::object& event, const dom::object& args, Time time) {
    const std::string_view category = text_in(event, "cat");
    if (std::find(kHostCategories.begin(), kHostCategories.end(), category) ==
        kHostCategories.end())
      return false;
    const std::string series = series_of(args), scope = scope_of(args);
    bool any = false;
    for (const dom::key_value_pair member : args) {
      double value = 0;
      if (member.value.get(value) != simdjson::SUCCESS) continue;
      Gauge gauge;
      gauge.time_ns = moment(time);
      gauge.scope = out_.string(scope);
      std::string name(text_in(event, "name"));
      if (member.key != "value") name += "." + std::string(member.key);
      const bool is_total = name.ends_with(kTotal);
      if (is_total && !series.empty()) name.resize(name.size() - kTotal.size());
      name += series;
      if (is_total && !series.empty()) name += kTotal;
      gauge.name = out_.string(name);
      gauge.unit = out_.string(text_in(args, "unit"));
      gauge.value = value;
      out_.add(gauge);
      end_at(gauge.time_ns);
      any = true;
    }
    return any;
  }

  RecordStream& out_;
  dom::parser parser_;
  std::string quoted_;
  std::unordered_map<std::string, std::string> texts_;  // of hashes
  // The slice that was read last, and the time in its calls so far.
  std::map<std::pair<ThreadId, StringId>, std::pair<int64_t, int64_t>> busy_;
  std::optional<std::string> first_host_;
  std::optional<Time> base_ns_;
  bool nanoseconds_ = false;
  int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
  ImportCounts counts_;
};

}  // namespace

bool looks_like_pfw(std::string_view start) {
  start = start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  if (!start.starts_with('[')) return false;
  start.remove_prefix(1);
  start = start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  const std::string_view line = start.substr(0, start.find('\n'));
  return start.empty() || start.starts_with(']') ||
         (line.starts_with('{') && line.find("\"ph\"") != std::string_view::npos);
}

Result<ImportCounts> import_pfw(const std::string& path, RecordStream& out) {
  TRY(load_simdjson());
  TRY_ASSIGN(UnpackedLines lines, UnpackedLines::open(path));
  PfwReader reader(out);
  std::string line;
  while (lines.next(line)) {
    const std::string_view text = without_commas(line);
    if (text.empty() || text == "[" || text == "]") continue;
    if (line.size() < UnpackedLines::kMostLine && reader.read(text)) {
      reader.count();
    } else {
      reader.skip();
    }
  }
  TRY(lines.check());
  const ImportCounts counts = reader.counts();
  if (counts.lines == 0) return Error{Code::kCorrupt, path + " holds no event of a .pfw"};
  return counts;
}

}  // namespace fathom
