// SPDX-License-Identifier: Apache-2.0
#include "report/csv_report.h"

#include "base/text.h"
#include "record/row_text.h"

namespace fathom {
namespace {

constexpr const char* kUsualTable = TableOf<Process>::kName;

template <class Record>
Status write_rows(const Rows& rows, const Dictionary& names, std::FILE* out) {
  RowText text(names, rows);
  for (const Record& record : rows.of<Record>()) TRY(print_data_to(out, text.csv(record)));
  return {};
}

template <class Record>
Status write_table(const Recording& recording, std::FILE* out) {
  TRY(print_data_to(out, RowText::csv_header<Record>()));
  if constexpr (Keyed<Record>) {
    TRY_ASSIGN(const auto collected, collect(recording, tables_of<Record>()));
    return write_rows<Record>(collected->rows, collected->names.dictionary(), out);
  } else {
    return recording.read(tables_of<Record>(), [&](const Batch& batch) {
      return write_rows<Record>(batch.rows, batch.dictionary, out);
    });
  }
}

}  // namespace

Status write_csv_report(const Recording& recording, const ReportOptions& options) {
  const std::string wanted = options.table.empty() ? kUsualTable : options.table;
  std::vector<std::string_view> names;
  std::optional<Status> written;
  for_each_table([&]<class Record>() {
    names.emplace_back(TableOf<Record>::kName);
    if (wanted == TableOf<Record>::kName) written = write_table<Record>(recording, options.out);
  });
  if (written) return *written;
  Error error{Code::kInvalid, "no table is named " + wanted,
              "fathom query --schema lists the tables"};
  if (const auto near = closest_match(wanted, names))
    error.hint = "did you mean " + std::string(*near) + "?";
  return error;
}

}  // namespace fathom
