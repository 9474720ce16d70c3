// SPDX-License-Identifier: Apache-2.0
#include "report/xml_text.h"

#include "base/text.h"

namespace fathom {
namespace {

// The two code points that are UTF-8 and no character of XML; controls and surrogates are gone
// after printable().
constexpr char32_t kFirstNonCharacter = 0xFFFE;
constexpr char32_t kLastNonCharacter = 0xFFFF;

}  // namespace

std::string xml_text(std::string_view text, size_t columns) {
  const std::string shown = fit(printable(text), columns);
  std::string out;
  for (std::string_view rest = shown; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    switch (point.value) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case kFirstNonCharacter:
      case kLastNonCharacter:
        out += "\xEF\xBF\xBD";
        break;
      default:
        out += rest.substr(0, point.bytes);
    }
    rest.remove_prefix(point.bytes);
  }
  return out;
}

}  // namespace fathom
