// SPDX-License-Identifier: Apache-2.0
#include "report/page_head.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

constexpr size_t kTitleColumns = 100;

}  // namespace

std::string page_head(std::string_view mark, std::string_view script, std::string_view style,
                      std::string_view title) {
  return fmt::format(R"(<!doctype html>
{}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<style>{}</style>
</head>
<body>
)",
                     mark, sha256_source(script), sha256_source(style),
                     xml_text(title, kTitleColumns), style);
}

}  // namespace fathom
