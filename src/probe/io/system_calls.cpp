// SPDX-License-Identifier: Apache-2.0
#include "probe/io/system_calls.h"

#include <sys/syscall.h>

namespace fathom {
namespace {

constexpr WireRule rule(uint8_t flags, int fd, int path, int at, int offset) {
  return {0,
          static_cast<uint8_t>(flags | kRuleWanted),
          static_cast<int8_t>(fd),
          static_cast<int8_t>(path),
          static_cast<int8_t>(at),
          static_cast<int8_t>(offset),
          0};
}
constexpr WireRule plain() { return rule(0, -1, -1, -1, -1); }
// About a descriptor, and what it moves.
constexpr WireRule of_fd(int fd = 0) { return rule(0, fd, -1, -1, -1); }
constexpr WireRule moves(int fd = 0) { return rule(kRuleBytes, fd, -1, -1, -1); }
constexpr WireRule moves_on(int fd = 0) { return rule(kRuleBytes | kRulePosition, fd, -1, -1, -1); }
constexpr WireRule moves_at(int offset) { return rule(kRuleBytes, 0, -1, -1, offset); }
// About a path.
constexpr WireRule of_path(int path = 0, int at = -1) { return rule(0, -1, path, at, -1); }
constexpr WireRule opens(int path = 0, int at = -1) { return rule(kRuleMakesFd, -1, path, at, -1); }
constexpr WireRule makes_fd(int fd = -1) { return rule(kRuleMakesFd, fd, -1, -1, -1); }
constexpr WireRule closes() { return rule(kRuleEntryFile, 0, -1, -1, -1); }
constexpr WireRule executes(int path, int at) {
  return rule(kRuleExec | kRuleEntryFile, -1, path, at, -1);
}
constexpr WireRule ends() { return rule(kRuleAtEntry, -1, -1, -1, -1); }

#define CALL(name, how) \
  SystemCall { #name, SYS_##name, how }

constexpr SystemCall kSystemCalls[] = {
    // Content.
    CALL(read, moves_on()),
    CALL(write, moves_on()),
    CALL(readv, moves_on()),
    CALL(writev, moves_on()),
    CALL(pread64, moves_at(3)),
    CALL(pwrite64, moves_at(3)),
    CALL(preadv, moves_at(3)),
    CALL(pwritev, moves_at(3)),
    CALL(preadv2, moves_at(3)),
    CALL(pwritev2, moves_at(3)),
    CALL(sendfile, moves(1)),
    CALL(splice, moves()),
    CALL(tee, moves()),
    CALL(vmsplice, moves()),
    CALL(copy_file_range, moves()),
    CALL(process_vm_readv, rule(kRuleBytes, -1, -1, -1, -1)),
    CALL(process_vm_writev, rule(kRuleBytes, -1, -1, -1, -1)),
    CALL(readahead, rule(0, 0, -1, -1, 1)),
    CALL(lseek, of_fd()),
    // Descriptors.
    CALL(openat, opens(1, 0)),
    CALL(openat2, opens(1, 0)),
    CALL(open_by_handle_at, makes_fd()),
    CALL(close, closes()),
    CALL(close_range, plain()),
    CALL(dup, of_fd()),
    CALL(dup3, of_fd()),
    CALL(fcntl, of_fd()),
    CALL(ioctl, of_fd()),
    CALL(flock, of_fd()),
    CALL(pipe2, plain()),
    CALL(eventfd2, makes_fd()),
    CALL(signalfd4, makes_fd()),
    CALL(timerfd_create, makes_fd()),
    CALL(memfd_create, makes_fd()),
    CALL(inotify_init1, makes_fd()),
    CALL(inotify_add_watch, of_path(1)),
    CALL(inotify_rm_watch, of_fd()),
    CALL(fanotify_init, makes_fd()),
    CALL(fanotify_mark, of_fd()),
    // To storage.
    CALL(fsync, of_fd()),
    CALL(fdatasync, of_fd()),
    CALL(sync, plain()),
    CALL(syncfs, of_fd()),
    CALL(sync_file_range, rule(0, 0, -1, -1, 1)),
    CALL(fallocate, rule(0, 0, -1, -1, 2)),
    CALL(fadvise64, rule(0, 0, -1, -1, 1)),
    CALL(truncate, of_path()),
    CALL(ftruncate, of_fd()),
    // Names and attributes.
    CALL(fstat, of_fd()),
    CALL(newfstatat, of_path(1, 0)),
    CALL(statx, of_path(1, 0)),
    CALL(statfs, of_path()),
    CALL(fstatfs, of_fd()),
    CALL(faccessat, of_path(1, 0)),
    CALL(faccessat2, of_path(1, 0)),
    CALL(readlinkat, of_path(1, 0)),
    CALL(getdents64, moves()),
    CALL(getcwd, plain()),
    CALL(chdir, of_path()),
    CALL(fchdir, of_fd()),
    CALL(chroot, of_path()),
    CALL(pivot_root, of_path()),
    CALL(mkdirat, of_path(1, 0)),
    CALL(mknodat, of_path(1, 0)),
    CALL(unlinkat, of_path(1, 0)),
    CALL(renameat, of_path(1, 0)),
    CALL(renameat2, of_path(1, 0)),
    CALL(linkat, of_path(1, 0)),
    CALL(symlinkat, of_path(2, 1)),
    CALL(fchmod, of_fd()),
    CALL(fchmodat, of_path(1, 0)),
    CALL(fchown, of_fd()),
    CALL(fchownat, of_path(1, 0)),
    CALL(utimensat, of_path(1, 0)),
    CALL(getxattr, of_path()),
    CALL(lgetxattr, of_path()),
    CALL(fgetxattr, of_fd()),
    CALL(setxattr, of_path()),
    CALL(lsetxattr, of_path()),
    CALL(fsetxattr, of_fd()),
    CALL(listxattr, of_path()),
    CALL(llistxattr, of_path()),
    CALL(flistxattr, of_fd()),
    CALL(removexattr, of_path()),
    CALL(lremovexattr, of_path()),
    CALL(fremovexattr, of_fd()),
    CALL(name_to_handle_at, of_path(1, 0)),
    CALL(mount, of_path(1)),
    CALL(umount2, of_path()),
    // Memory.
    CALL(mmap, of_fd(4)),
    CALL(munmap, plain()),
    CALL(mremap, plain()),
    CALL(mprotect, plain()),
    CALL(madvise, plain()),
    CALL(msync, plain()),
    CALL(mlock, plain()),
    CALL(mlock2, plain()),
    CALL(munlock, plain()),
    CALL(mlockall, plain()),
    CALL(munlockall, plain()),
    CALL(mincore, plain()),
    CALL(brk, plain()),
    // Waiting.
    CALL(ppoll, plain()),
    CALL(pselect6, plain()),
    CALL(epoll_create1, makes_fd()),
    CALL(epoll_ctl, of_fd()),
    CALL(epoll_pwait, of_fd()),
    CALL(epoll_pwait2, of_fd()),
    // Sockets and queues.
    CALL(socket, makes_fd()),
    CALL(socketpair, plain()),
    CALL(bind, of_fd()),
    CALL(listen, of_fd()),
    CALL(accept, of_fd()),
    CALL(accept4, of_fd()),
    CALL(connect, of_fd()),
    CALL(shutdown, of_fd()),
    CALL(sendto, moves()),
    CALL(sendmsg, moves()),
    CALL(sendmmsg, of_fd()),
    CALL(recvfrom, moves()),
    CALL(recvmsg, moves()),
    CALL(recvmmsg, of_fd()),
    CALL(getsockname, of_fd()),
    CALL(getpeername, of_fd()),
    CALL(getsockopt, of_fd()),
    CALL(setsockopt, of_fd()),
    CALL(mq_open, opens()),
    CALL(mq_unlink, of_path()),
    CALL(mq_timedsend, of_fd()),
    CALL(mq_timedreceive, moves()),
    CALL(msgsnd, plain()),
    CALL(msgrcv, rule(kRuleBytes, -1, -1, -1, -1)),
    CALL(shmat, plain()),
    CALL(shmdt, plain()),
    // Asynchronous.
    CALL(io_setup, plain()),
    CALL(io_destroy, plain()),
    CALL(io_submit, plain()),
    CALL(io_cancel, plain()),
    CALL(io_getevents, plain()),
    CALL(io_pgetevents, plain()),
    CALL(io_uring_setup, makes_fd()),
    CALL(io_uring_enter, of_fd()),
    CALL(io_uring_register, of_fd()),
    // Processes.
    CALL(clone, plain()),
    CALL(clone3, plain()),
    CALL(execve, executes(0, -1)),
    CALL(execveat, executes(1, 0)),
    CALL(exit, ends()),
    CALL(exit_group, ends()),
    CALL(wait4, plain()),
    CALL(waitid, plain()),
    CALL(pidfd_open, makes_fd()),
#ifdef SYS_open  // those that newer architectures leave out
    CALL(open, opens()),
    CALL(creat, opens()),
    CALL(dup2, of_fd()),
    CALL(pipe, plain()),
    CALL(eventfd, makes_fd()),
    CALL(signalfd, makes_fd()),
    CALL(inotify_init, makes_fd()),
    CALL(stat, of_path()),
    CALL(lstat, of_path()),
    CALL(access, of_path()),
    CALL(readlink, of_path()),
    CALL(getdents, moves()),
    CALL(mkdir, of_path()),
    CALL(rmdir, of_path()),
    CALL(mknod, of_path()),
    CALL(unlink, of_path()),
    CALL(rename, of_path()),
    CALL(link, of_path()),
    CALL(symlink, of_path(1)),
    CALL(chmod, of_path()),
    CALL(chown, of_path()),
    CALL(lchown, of_path()),
    CALL(utime, of_path()),
    CALL(utimes, of_path()),
    CALL(futimesat, of_path(1, 0)),
    CALL(poll, plain()),
    CALL(select, plain()),
    CALL(epoll_create, makes_fd()),
    CALL(epoll_wait, of_fd()),
    CALL(fork, plain()),
    CALL(vfork, plain()),
#endif
};

#undef CALL

}  // namespace

std::span<const SystemCall> system_calls() { return kSystemCalls; }

}  // namespace fathom
