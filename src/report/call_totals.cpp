// SPDX-License-Identifier: Apache-2.0
#include "report/call_totals.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom {
namespace {

// A size that somebody made up must not overflow a sum.
void add_bounded(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}
void add_to(Maybe& sum, const Maybe& value) {
  if (!value) return;
  int64_t whole = sum.value_or(0);
  add_bounded(whole, *value);
  sum = whole;
}

struct Sum {
  CallTotal total;
  bool is_call = false;
};

class Adder {
 public:
  void add(const Batch& batch) {
    // Numbers of strings hold within a batch.
    std::map<std::tuple<StringId, StringId, bool>, Sum*> known;
    const auto find = [&](StringId layer, StringId name, bool is_file) -> Sum& {
      Sum*& sum = known[{layer, name, is_file}];
      if (sum == nullptr) sum = &entry(batch.dictionary, layer, name, is_file);
      return *sum;
    };
    const auto add = [&](StringId layer, StringId name, StringId file, const CallTotal& call) {
      Sum& function = find(layer, name, false);
      add_call(function.total, call);
      function.is_call |= file != StringId::kNone || call.time_ns || call.bytes;
      if (file != StringId::kNone) add_call(find(layer, file, true).total, call);
    };
    for (const Counter& row : batch.rows.of<Counter>())
      add(row.layer, row.name, row.file, {{}, {}, row.count, row.time_ns, row.bytes, row.errors});
    for (const Span& row : batch.rows.of<Span>()) {
      Maybe errors;
      if (row.result) errors = *row.result < 0 ? 1 : 0;
      add(row.layer, row.name, row.file, {{}, {}, 1, row.duration_ns, row.bytes, errors});
    }
  }

  CallTotals result() {
    CallTotals totals;
    for (auto& [key, sum] : sums_) {
      auto& list = std::get<2>(key) ? totals.files : sum.is_call ? totals.functions : totals.events;
      list.push_back(std::move(sum.total));
    }
    std::stable_sort(totals.functions.begin(), totals.functions.end(),
                     [](const CallTotal& a, const CallTotal& b) {
                       return std::tie(a.time_ns, a.count) > std::tie(b.time_ns, b.count);
                     });
    std::stable_sort(totals.files.begin(), totals.files.end(),
                     [](const CallTotal& a, const CallTotal& b) {
                       return std::tie(a.bytes, a.time_ns) > std::tie(b.bytes, b.time_ns);
                     });
    return totals;
  }

 private:
  static void add_call(CallTotal& total, const CallTotal& call) {
    add_bounded(total.count, call.count);
    add_to(total.time_ns, call.time_ns);
    add_to(total.bytes, call.bytes);
    add_to(total.errors, call.errors);
  }

  Sum& entry(const Dictionary& names, StringId layer, StringId name, bool is_file) {
    Sum& sum = sums_[{std::string(names.text(layer)), std::string(names.text(name)), is_file}];
    sum.total.layer = names.text(layer);
    sum.total.name = names.text(name);
    return sum;
  }

  std::map<std::tuple<std::string, std::string, bool>, Sum> sums_;
};

}  // namespace

Result<CallTotals> load_call_totals(const Recording& recording) {
  Adder adder;
  TRY(recording.read(tables_of<Counter, Span>(), [&](const Batch& batch) -> Status {
    adder.add(batch);
    return {};
  }));
  return adder.result();
}

}  // namespace fathom
