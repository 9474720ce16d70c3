// SPDX-License-Identifier: Apache-2.0
// Unpacks the input as the archive of a recording. Whatever it says, nothing may be written outside
// the named folder, and only regular files inside; what was unpacked packs and unpacks to the same.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "base/fd.h"
#include "record/pack.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "unpack_fuzz: %s\n", what);
  std::abort();
}

// In memory, removed at exit.
class Scratch {
 public:
  Scratch() { require(mkdtemp(path_.data()) != nullptr, "no scratch folder"); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/unpack_fuzz.XXXXXX";
};

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    struct stat facts {};
    require(lstat(entry.path().c_str(), &facts) == 0, "stat");
    require(S_ISREG(facts.st_mode), "something other than a regular file");
    require((facts.st_mode & (S_ISUID | S_ISGID | S_IWOTH)) == 0, "a file of dangerous mode");
    files[entry.path().filename()] = read_file(entry.path()).value_or("");
  }
  return files;
}

void check(std::string_view bytes) {
  static const Scratch scratch;
  const std::string root = scratch.path() + "/" + "root";
  fs::create_directory(root);
  require(write_file(root + "/in.tar", bytes).ok(), "write");
  const auto made = unpack_recording(root + "/in.tar", root + "/out.fathom");
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(root)) {
    ++count;
    const std::string name = entry.path().filename();
    require(name == "in.tar" || (made.ok() && name == "out.fathom"), "something else was written");
  }
  require(count == (made.ok() ? 2U : 1U), "another number of files");
  if (made.ok()) {
    const auto files = files_of(root + "/out.fathom");
    require(pack_recording(root + "/out.fathom", root + "/again.tar").ok(), "cannot be packed");
    require(unpack_recording(root + "/again.tar", root + "/again.fathom").ok(),
            "cannot be unpacked again");
    require(files_of(root + "/again.fathom") == files, "packing changed a file");
  }
  fs::remove_all(root);
  require(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 0,
          "something was written outside");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
