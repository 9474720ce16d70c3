// SPDX-License-Identifier: Apache-2.0
#include "probe/io/layers.h"

#include <algorithm>

#include "base/text.h"

namespace fathom {
namespace {

constexpr std::array kLayers = {
    IoLayer{"c", "calls of the C library, by a library in the target", true},
    IoLayer{"sys", "system calls", true},
    IoLayer{"io_uring", "requests of io_uring, from submission to completion", true},
    IoLayer{"vfs", "the virtual file system, where the kernel takes programs on functions", false},
    IoLayer{"ext4", "the file system ext4, within system calls", false},
    IoLayer{"xfs", "the file system XFS", false},
    IoLayer{"btrfs", "the file system Btrfs", false},
    IoLayer{"tmpfs", "files in memory, where the kernel takes programs on functions", false},
    IoLayer{"overlay", "overlayfs, where the kernel takes programs on functions", false},
    IoLayer{"jbd2", "the journal of ext4", false},
    IoLayer{"os_cache", "the page cache: what is read, missed, dirtied and mapped", false},
    IoLayer{"writeback", "content of files on its way to storage", false},
    IoLayer{"faults", "page faults", false},
    IoLayer{"block", "requests of block devices: queue and device time, merges, order", true},
};

}  // namespace

std::span<const IoLayer> io_layers() { return kLayers; }

bool LayerChoice::has(std::string_view layer) const {
  return std::find(names.begin(), names.end(), layer) != names.end();
}

bool LayerChoice::any_of_kernel() const {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name != "c"; });
}

Result<LayerChoice> layers_from(std::string_view list) {
  LayerChoice choice;
  const auto add = [&](const IoLayer& layer) {
    if (!choice.has(layer.name)) choice.names.emplace_back(layer.name);
  };
  std::vector<std::string_view> known = {"all", "usual"};
  for (const IoLayer& layer : kLayers) known.push_back(layer.name);
  std::vector<std::string_view> words = split_words(list, ',');
  if (words.empty()) words.emplace_back("usual");
  for (const std::string_view word : words) {
    bool found = false;
    for (const IoLayer& layer : kLayers) {
      if (word != layer.name && word != "all" && (word != "usual" || !layer.usual)) continue;
      add(layer);
      found = true;
    }
    if (found) continue;
    Error error{Code::kInvalid, "no layer of I/O is named " + printable(word),
                "layers are " + join(std::vector<std::string>(known.begin(), known.end()), ", ")};
    if (const auto near = closest_match(word, known))
      error.hint = "did you mean " + std::string(*near) + "?";
    return error;
  }
  return choice;
}

}  // namespace fathom
