// SPDX-License-Identifier: Apache-2.0
#include "report/io_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fathom {
namespace {

struct ClassRow {
  IoClass io_class;
  const char* names;  // with spaces between
};

// libc and system calls, as plain_name() leaves them.
constexpr ClassRow kFunctions[] = {
    {IoClass::kRead,
     "read readv pread preadv preadv2 preadv64v2 uflow underflow fread fgetc getc getchar getw "
     "fgets gets getline getdelim "
     "fscanf scanf vfscanf vscanf fgetwc getwc getwchar fgetws fwscanf wscanf vfwscanf vwscanf "
     "recv recvfrom recvmsg recvmmsg process_vm_readv eventfd_read aio_read mq_receive "
     "mq_timedreceive msgrcv"},
    {IoClass::kWrite,
     "write writev pwrite pwritev pwritev2 pwritev64v2 overflow fwrite fputc putc putchar putw "
     "fputs puts fprintf "
     "printf vfprintf vprintf dprintf vdprintf fputwc putwc putwchar fputws fwprintf wprintf "
     "vfwprintf vwprintf perror process_vm_writev eventfd_write send sendto sendmsg sendmmsg "
     "aio_write vmsplice mq_send "
     "mq_timedsend msgsnd"},
    {IoClass::kCopy, "sendfile copy_file_range splice tee"},
    {IoClass::kOpen,
     "open openat openat2 open_by_handle_at creat fopen fdopen freopen fopencookie fmemopen "
     "open_memstream open_wmemstream tmpfile mkstemp mkostemp mkstemps mkostemps opendir fdopendir "
     "popen pipe pipe2 socket socketpair accept accept4 connect shm_open memfd_create mq_open "
     "eventfd eventfd2 timerfd_create signalfd signalfd4 inotify_init inotify_init1 epoll_create "
     "epoll_create1 io_setup io_uring_setup fanotify_init"},
    {IoClass::kClose,
     "close fclose fcloseall close_range closefrom closedir pclose shutdown mq_close io_destroy"},
    {IoClass::kMetadata,
     "stat fstat lstat fstatat newfstatat newstat newfstat newlstat statx xstat fxstat lxstat "
     "fxstatat xmknod xmknodat access faccessat faccessat2 euidaccess eaccess statfs fstatfs "
     "statvfs fstatvfs rename renameat renameat2 unlink unlinkat remove link linkat symlink "
     "symlinkat readlink readlinkat mkdir mkdirat rmdir mknod mknodat mkfifo mkfifoat mkdtemp "
     "chmod fchmod fchmodat fchmodat2 lchmod chown fchown lchown fchownat utime utimes futimes "
     "lutimes futimesat futimens utimensat truncate ftruncate fallocate posix_fallocate fadvise "
     "posix_fadvise readahead getdents getdirentries readdir readdir_r readdir64_r scandir "
     "scandirat alphasort "
     "dirfd ftw nftw fts_open fts_read fts_children fts_set fts_close "
     "fts64_open fts64_read fts64_children fts64_close glob globfree realpath "
     "canonicalize_file_name getcwd getwd get_current_dir_name chdir fchdir chroot pivot_root "
     "getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr llistxattr flistxattr "
     "removexattr lremovexattr fremovexattr fcntl flock lockf ioctl dup dup2 dup3 fileno umask "
     "mount umount umount2 shm_unlink mq_unlink mq_getattr mq_setattr mq_notify bind listen "
     "getpeername getsockname getsockopt setsockopt sockatmark epoll_ctl inotify_add_watch "
     "inotify_rm_watch fanotify_mark setbuf setbuffer setlinebuf setvbuf name_to_handle_at "
     "io_submit aio_error aio_return aio_cancel io_cancel io_uring_register quotactl"},
    {IoClass::kSeek,
     "lseek llseek fseek fseeko ftell ftello rewind fgetpos fsetpos seekdir telldir rewinddir "
     "ungetc ungetwc"},
    {IoClass::kSync, "fsync fdatasync sync syncfs sync_file_range fflush msync aio_fsync"},
    {IoClass::kWait,
     "poll ppoll select pselect pselect6 epoll_wait epoll_pwait epoll_pwait2 epoll_wait_old "
     "aio_suspend io_getevents io_pgetevents io_uring_enter lio_listio wait4 waitid"},
    {IoClass::kProcess, "clone clone3 fork vfork execve execveat exit exit_group pidfd_open"},
    {IoClass::kMap,
     "mmap mmap2 munmap mremap mprotect madvise posix_madvise mlock mlock2 munlock mlockall "
     "munlockall mincore remap_file_pages shmat shmdt brk sbrk"},
    {IoClass::kMemory,
     "malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc "
     "pvalloc malloc_usable_size malloc_trim"},
};

// Other layers (vfs_read, ext4_file_write_iter, MPI_File_open, …): the first row with a word that
// is in the name.
constexpr ClassRow kWords[] = {
    {IoClass::kMetadata,
     "stat getattr setattr lookup xattr readdir iterate unlink rename mkdir rmdir link truncate "
     "fallocate ioctl flock set_view info readahead size"},
    {IoClass::kSync, "sync flush"},
    {IoClass::kFlush, "writepages"},
    {IoClass::kSeek, "seek"},
    {IoClass::kWait, "poll select wait"},
    {IoClass::kMap, "mmap fault"},
    {IoClass::kCopy, "sendfile copy_file_range splice"},
    {IoClass::kRead, "read recv"},
    {IoClass::kWrite, "write send"},
    {IoClass::kOpen, "open create connect accept"},
    {IoClass::kClose, "close release shutdown"},
};

struct Layer {
  std::string_view name, title;
};
// From the program down to the disk. Of what is not here (file systems, libraries) nothing is known
// but that most are file systems.
constexpr std::array kLayers = {
    Layer{"app", "application"},
    Layer{"mpi", "MPI"},
    Layer{"c", "C library"},
    Layer{"sys", "system calls"},
    Layer{"io_uring", "io_uring"},
    Layer{"vfs", "virtual file system"},
    Layer{"", ""},
    Layer{"os_cache", "page cache"},
    Layer{"faults", "page faults"},
    Layer{"block", "block devices"},
};
constexpr size_t kFileSystems = 6;
static_assert(kLayers[kFileSystems].name.empty());

// What stands around one name in libc, in the kernel and in stripped forms of both.
constexpr std::string_view kPrefixes[] = {
    "__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "ksys_", "sys_enter_", "sys_exit_",
    "sys_",       "__libc_",      "__isoc99_", "__isoc23_", "__GI_", "_IO_",       "__"};
constexpr std::string_view kSuffixes[] = {"_chk", "_unlocked", "_nocancel", "_time64", "_2", "64"};

// "__open64_2", "__x64_sys_pread64" and "fread_unlocked" are "open", "pread" and "fread".
std::string_view plain_name(std::string_view name) {
  const auto strip = [&](auto affixes, auto has, auto remove) {
    return std::any_of(std::begin(affixes), std::end(affixes), [&](std::string_view affix) {
      if (name.size() <= affix.size() || !has(affix)) return false;
      remove(affix.size());
      return true;
    });
  };
  const auto starts = [&](std::string_view affix) { return name.starts_with(affix); };
  const auto ends = [&](std::string_view affix) { return name.ends_with(affix); };
  while (strip(std::to_array(kPrefixes), starts, [&](size_t n) { name.remove_prefix(n); })) {
  }
  while (strip(std::to_array(kSuffixes), ends, [&](size_t n) { name.remove_suffix(n); })) {
  }
  return name;
}

std::string join_words(std::string_view words, std::string_view between) {
  std::string text;
  for (const std::string_view word : split_words(words))
    text += (text.empty() ? "" : std::string(between)) + std::string(word);
  return text;
}

bool has_word(const ClassRow& row, std::string_view name) {
  const auto words = split_words(row.names);
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool contains_word(const ClassRow& row, std::string_view name) {
  const auto words = split_words(row.names);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

}  // namespace

std::string_view io_class_name(IoClass io_class) {
  constexpr std::array<std::string_view, 14> kNames = {
      "read", "write", "copy", "open", "close",  "meta",    "seek",
      "sync", "flush", "wait", "map",  "memory", "process", "other"};
  return kNames[static_cast<size_t>(io_class)];
}

IoClass io_class(std::string_view layer, std::string_view name) {
  const std::string_view plain = plain_name(name);
  for (const ClassRow& row : kFunctions) {
    if (has_word(row, plain)) return row.io_class;
  }
  if (layer == "c" || layer == "sys") return IoClass::kOther;
  for (const ClassRow& row : kWords) {
    if (contains_word(row, name)) return row.io_class;
  }
  return IoClass::kOther;
}

std::string io_class_sql() {
  // A name keeps its last character, as in plain_name().
  const auto any_of = [](auto begin, auto end) {
    std::string texts;
    for (; begin != end; ++begin) texts += (texts.empty() ? "" : "|") + std::string(*begin);
    return texts;
  };
  std::string sql = fmt::format(
      "CREATE MACRO io_plain(name) AS regexp_replace(regexp_replace(name, '^(?:{})+(.)', '\\1'), "
      "'(.)(?:{})+$', '\\1');\nCREATE MACRO io_class(layer, name) AS CASE",
      any_of(std::begin(kPrefixes), std::end(kPrefixes)),
      any_of(std::begin(kSuffixes), std::end(kSuffixes)));
  const auto then = [](IoClass io_class) {
    return fmt::format(" THEN '{}'", io_class_name(io_class));
  };
  for (const ClassRow& row : kFunctions)
    sql += fmt::format("\n  WHEN io_plain(name) IN ('{}')", join_words(row.names, "', '")) +
           then(row.io_class);
  sql += "\n  WHEN layer IN ('c', 'sys') THEN 'other'";
  for (const ClassRow& row : kWords)
    sql += fmt::format("\n  WHEN regexp_matches(name, '{}')", join_words(row.names, "|")) +
           then(row.io_class);
  return sql + "\n  ELSE 'other' END";
}

bool is_event_layer(std::string_view layer) { return layer == "cpu" || layer == "simulated"; }

bool is_io_layer(std::string_view layer) {
  constexpr std::array<std::string_view, 4> kOthers = {"cuda", "cupti", "gpu", "java"};
  return !is_event_layer(layer) &&
         std::find(kOthers.begin(), kOthers.end(), layer) == kOthers.end();
}

size_t layer_depth(std::string_view layer) {
  for (size_t i = 0; i < kLayers.size(); ++i) {
    if (layer == kLayers[i].name) return i;
  }
  return kFileSystems;
}

std::string_view layer_title(std::string_view layer) {
  for (const Layer& known : kLayers) {
    if (layer == known.name) return known.title;
  }
  return {};
}

}  // namespace fathom
