// SPDX-License-Identifier: Apache-2.0
#include "record/sql_cell.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace fathom {
namespace {

// NOLINTBEGIN(modernize-use-using): __extension__ is needed, and goes with typedef only
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;
// NOLINTEND(modernize-use-using)

template <class Value>
Value at(const void* data, size_t row) {
  return static_cast<const Value*>(data)[row];
}

Int128 signed_at(duckdb_type type, const void* data, size_t row) {
  switch (type) {
    case DUCKDB_TYPE_TINYINT:
      return at<int8_t>(data, row);
    case DUCKDB_TYPE_SMALLINT:
      return at<int16_t>(data, row);
    case DUCKDB_TYPE_INTEGER:
      return at<int32_t>(data, row);
    case DUCKDB_TYPE_BIGINT:
      return at<int64_t>(data, row);
    case DUCKDB_TYPE_UTINYINT:
      return at<uint8_t>(data, row);
    case DUCKDB_TYPE_USMALLINT:
      return at<uint16_t>(data, row);
    case DUCKDB_TYPE_UINTEGER:
      return at<uint32_t>(data, row);
    case DUCKDB_TYPE_UBIGINT:
      return at<uint64_t>(data, row);
    default: {
      const auto huge = at<duckdb_hugeint>(data, row);
      return static_cast<Int128>((static_cast<Uint128>(huge.upper) << 64) | huge.lower);
    }
  }
}

// An integer with the last `scale` digits behind a point.
std::string decimal(Int128 value, int scale) {
  const bool negative = value < 0;
  const auto digits =
      fmt::format("{}", negative ? -static_cast<Uint128>(value) : static_cast<Uint128>(value));
  const auto behind = static_cast<size_t>(scale);
  std::string text = negative ? "-" : "";
  if (behind == 0) return text += digits;
  const size_t before = digits.size() > behind ? digits.size() - behind : 0;
  text += before == 0 ? "0" : digits.substr(0, before);
  text += '.';
  text.append(behind - (digits.size() - before), '0');
  return text += digits.substr(before);
}

std::string real(double value, CellForm form) {
  if (!std::isfinite(value) && form == CellForm::kJson) return "null";
  return fmt::format("{}", value);
}

bool is_integer(duckdb_type type) {
  return (type >= DUCKDB_TYPE_TINYINT && type <= DUCKDB_TYPE_UBIGINT) ||
         type == DUCKDB_TYPE_HUGEINT;
}

}  // namespace

CellFormat::CellFormat(const DuckType& type)
    : type_(loaded_duck_api().get_type_id(type.get())), stored_(type_) {
  const DuckApi& api = loaded_duck_api();
  if (type_ == DUCKDB_TYPE_DECIMAL) {
    stored_ = api.decimal_internal_type(type.get());
    scale_ = api.decimal_scale(type.get());
  } else if (type_ == DUCKDB_TYPE_LIST) {
    element_ = std::make_unique<CellFormat>(DuckType(api.list_type_child_type(type.get())));
  }
}

bool CellFormat::known() const {
  return numeric() || type_ == DUCKDB_TYPE_BOOLEAN || type_ == DUCKDB_TYPE_VARCHAR ||
         type_ == DUCKDB_TYPE_SQLNULL || (element_ && element_->known());
}

bool CellFormat::numeric() const {
  return is_integer(type_) || type_ == DUCKDB_TYPE_DECIMAL || type_ == DUCKDB_TYPE_FLOAT ||
         type_ == DUCKDB_TYPE_DOUBLE;
}

void CellFormat::append(std::string& out, duckdb_vector vector, size_t row, CellForm form) const {
  const DuckApi& api = loaded_duck_api();
  if (type_ == DUCKDB_TYPE_SQLNULL || !duck_valid(api.vector_get_validity(vector), row)) {
    if (form == CellForm::kJson) out += "null";
  } else if (element_) {
    append_list(out, vector, row, form);
  } else {
    append_value(out, api.vector_get_data(vector), row, form);
  }
}

void CellFormat::append_list(std::string& out, duckdb_vector vector, size_t row,
                             CellForm form) const {
  const auto range = at<duckdb_list_entry>(loaded_duck_api().vector_get_data(vector), row);
  const duckdb_vector child = loaded_duck_api().list_vector_get_child(vector);
  out += '[';
  for (size_t i = 0; i < range.length; ++i) {
    if (i > 0) out += form == CellForm::kJson ? "," : ", ";
    element_->append(out, child, range.offset + i, form);
  }
  out += ']';
}

void CellFormat::append_value(std::string& out, const void* data, size_t row, CellForm form) const {
  if (type_ == DUCKDB_TYPE_BOOLEAN) {
    out += at<bool>(data, row) ? "true" : "false";
  } else if (type_ == DUCKDB_TYPE_FLOAT) {
    out += real(static_cast<double>(at<float>(data, row)), form);
  } else if (type_ == DUCKDB_TYPE_DOUBLE) {
    out += real(at<double>(data, row), form);
  } else if (type_ == DUCKDB_TYPE_VARCHAR) {
    const std::string_view text = duck_text(static_cast<const duckdb_string_t*>(data)[row]);
    form == CellForm::kJson ? out += json_quote(text) : out += text;
  } else {
    out += decimal(signed_at(stored_, data, row), scale_);
  }
}

}  // namespace fathom
