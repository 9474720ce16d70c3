// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>

#include "base/file_mode.h"
#include "record/journal.h"

namespace fathom {
namespace {

constexpr int64_t kReserveStep = int64_t{1} << 20;
constexpr int64_t kKeptForLast = int64_t{64} << 10;

int64_t file_size_limit() {
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > rlim_t{kMost}) return kMost;
  return static_cast<int64_t>(limit.rlim_cur);
}

}  // namespace

Result<JournalFile> JournalFile::create(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  TRY_ASSIGN(Fd file, open_file(path, O_RDWR | O_CREAT | O_EXCL,
                                file_mode_in(folder.empty() ? "." : folder)));
  // Tells readers that a recorder lives; falls with it. It waits for one that looks right now.
  // Without locks readers cannot tell, and say so: no reason not to record.
  while (flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  JournalFile journal(std::move(file), path);
  journal.limit_bytes_ = file_size_limit();
  std::string header(kJournalMagic);
  header.resize(kJournalHeaderBytes, '\0');
  header[8] = static_cast<char>(kJournalVersion);
  if (auto written = journal.append(header); !written.ok()) {
    unlink(path.c_str());
    Error error = std::move(written).error();
    if (error.code == Code::kNoSpace)
      error.hint = "no command was started: make room, or write elsewhere with -o FOLDER/NAME";
    return error;
  }
  TRY(journal.sync());
  return journal;
}

JournalUse journal_use(const std::string& path) {
  const auto file = open_file(path, O_RDONLY);
  if (!file.ok() || flock(file.value().get(), LOCK_SH | LOCK_NB) == 0) return JournalUse::kFree;
  return errno == EWOULDBLOCK ? JournalUse::kInUse : JournalUse::kUnknown;
}

Status JournalFile::reserve(int64_t end) {
  if (end > limit_bytes_) return errno_error("write " + path_, EFBIG);
  if (reserved_bytes_ < 0 || end <= reserved_bytes_) return {};
  // More than the limit would end us on some file systems.
  const int64_t wanted = std::min((end / kReserveStep + 1) * kReserveStep, limit_bytes_);
  if (fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, wanted) == 0) {
    reserved_bytes_ = wanted;
    return {};
  }
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return errno_error("write " + path_);
  reserved_bytes_ = -1;
  return {};
}

Status JournalFile::append(std::string_view frame, bool last) {
  const auto size = static_cast<int64_t>(frame.size());
  if (!last) TRY(reserve(size_bytes_ + size + kKeptForLast));
  if (auto written = write_all(file_.get(), frame); !written.ok()) {
    take_back();
    return std::move(written).error().within(path_);
  }
  size_bytes_ += size;
  return {};
}

// Cuts off half a frame. That gives up the reserve too, which is asked for again.
void JournalFile::take_back() {
  (void)!ftruncate(file_.get(), size_bytes_);
  lseek(file_.get(), size_bytes_, SEEK_SET);
  if (reserved_bytes_ <= 0) return;
  reserved_bytes_ = 0;
  (void)reserve(size_bytes_ + kKeptForLast).ok();
}

Status JournalFile::sync() {
  if (fdatasync(file_.get()) != 0) return errno_error("sync " + path_);
  return {};
}

Status JournalFile::close() {
  if (reserved_bytes_ > size_bytes_) (void)!ftruncate(file_.get(), size_bytes_);
  TRY(sync());
  file_.reset();
  return {};
}

}  // namespace fathom
