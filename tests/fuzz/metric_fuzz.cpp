// SPDX-License-Identifier: Apache-2.0
// Whatever an application or a program says: cut into lines, read as JSON and as words, put on a
// page of metrics. Also as an HTTP request. Nothing may crash, and the page must stay one.
//
//   build/fuzz/fuzz/metric_fuzz -max_total_time=120 CORPUS
#include <cmath>
#include <cstdlib>

#include "probe/line_buffer.h"
#include "probe/metric_reader.h"
#include "record/metrics_page.h"
#include "session/http_request.h"

namespace fathom {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

class Page final : public MetricListener {
 public:
  void metric(const Metric& metric) override {
    require(!metric.name.empty() && std::isfinite(metric.value));
    rows_.of<Gauge>().push_back({1, names_.string("app"), names_.string(metric.name),
                                 names_.string(metric.unit), metric.value});
  }
  void mark(std::string_view text, const MetricTime& /*time*/) override { require(!text.empty()); }
  void lost(int64_t count) override { require(count >= 0); }

  void check() const {
    MetricsPage page;
    page.take(rows_, names_.dictionary());
    const std::string text = page.text(MetricsPage::Times::kLeftOut);
    require(text.ends_with("# EOF\n") && text.find("\n\n") == std::string::npos);
    require(text.find("# EOF\n") == text.size() - 6 || text.find("\n# EOF\n") == text.size() - 7);
  }

 private:
  Interner names_;
  Rows rows_;
};

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static MetricReader reader;
  Page page;
  LineBuffer lines;
  const auto take = [&](std::string_view line) {
    reader.read_json(line, page);
    MetricReader::read_words(line, page);
  };
  lines.add(bytes.substr(0, size / 3), take);
  lines.add(bytes.substr(size / 3), take);
  lines.end(take);
  page.check();
  (void)parse_http_request(bytes);
  return 0;
}
