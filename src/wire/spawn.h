/* SPDX-License-Identifier: Apache-2.0
 * What fathom-spawn (C, static) and the process launcher (C++) say to each other over a SEQPACKET
 * socket. Launcher to spawner: one byte, FATHOM_SPAWN_GO or FATHOM_SPAWN_QUIT. Spawner to launcher:
 * one struct a packet. */
#pragma once

#include <stdint.h>

#define FATHOM_SPAWN_GO 'G'
#define FATHOM_SPAWN_QUIT 'Q'

enum fathom_spawn_kind {
  FATHOM_SPAWN_READY = 1,   /* the child exists and waits before exec */
  FATHOM_SPAWN_STARTED = 2, /* exec succeeded */
  FATHOM_SPAWN_FAILED = 3,  /* exec failed: error */
  FATHOM_SPAWN_EXITED = 4,  /* the child, or an orphan of its tree, has ended and was reaped */
};

/* rusage of wait4(2): the process and all its waited-for descendants. io: the same,
 * what /proc/self/io of the spawner grew by. */
struct fathom_spawn_message {
  uint32_t kind;
  int32_t pid;
  int32_t status; /* as wait(2) */
  int32_t error;
  int32_t is_main;
  int32_t has_io;
  int32_t in_cgroup; /* READY: it was born in the cgroup whose folder was handed over */
  int32_t in_others; /* READY: it has joined those whose tasks files were handed over */
  int64_t time_ns;
  int64_t user_ns;
  int64_t system_ns;
  int64_t max_rss_bytes;
  int64_t minor_faults;
  int64_t major_faults;
  int64_t voluntary_switches;
  int64_t involuntary_switches;
  int64_t read_chars;
  int64_t written_chars;
  int64_t disk_read_bytes;
  int64_t disk_written_bytes;
};
