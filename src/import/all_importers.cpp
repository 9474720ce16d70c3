// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <vector>

#include "base/gzip.h"
#include "base/text.h"
#include "import/driver_log_importer.h"
#include "import/folded_importer.h"
#include "import/importer.h"
#include "import/pfw_importer.h"
#include "import/spool_importer.h"

namespace fathom {
namespace {

constexpr std::array kImporters = {
    ImporterInfo{"spool",
                 "the spool of a program that was killed with an in-target library in it, or a "
                 "folder of them",
                 looks_like_spool, import_spool},
    ImporterInfo{"pfw", "calls of DataCrumbs, DFTracer or fathom: .pfw and .pfw.gz", looks_like_pfw,
                 import_pfw},
    ImporterInfo{"driver-log", "metrics.log and timeline.log of CUDA driver calls (Alnair)",
                 looks_like_driver_log, import_driver_log},
    ImporterInfo{"folded", "folded stacks: frames joined by ';', a blank, a count", looks_folded,
                 import_folded},
};

constexpr size_t kStartBytes = 4096;

}  // namespace

std::span<const ImporterInfo> all_importers() { return kImporters; }

Result<const ImporterInfo*> find_importer(std::string_view name, const std::string& path) {
  std::vector<std::string_view> names;
  std::string known;
  for (const ImporterInfo& importer : kImporters) {
    if (name == importer.name) return &importer;
    names.emplace_back(importer.name);
    known += (known.empty() ? "" : ", ") + std::string(importer.name);
  }
  if (!name.empty()) {
    Error error{Code::kInvalid, "no import format is named " + std::string(name),
                "known are: " + known};
    if (const auto near = closest_match(name, names)) {
      error.hint = "did you mean " + std::string(*near) + "?";
    }
    return error;
  }
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) return kImporters.data();  // of spools
  TRY_ASSIGN(const std::string start, read_unpacked_start(path, kStartBytes));
  for (const ImporterInfo& importer : kImporters) {
    if (importer.matches(start)) return &importer;
  }
  Error error = not_folded(path, start);
  error.code = Code::kUnsupported;
  error.message = "no format that can be imported: " + error.message;
  error.hint += "; other formats are named with --format: " + known;
  return error;
}

}  // namespace fathom
