/* SPDX-License-Identifier: Apache-2.0
 * What fathom-hold (C, static, first in a container) and the container launcher (C++) say to each
 * other over a SEQPACKET socket in a folder that is mounted into the container.
 *
 * hold to launcher: one fathom_hold_message a packet, HELLO first.
 * launcher to hold: one fathom_hold_order a packet; behind it texts, each ended by a NUL: the words
 * of a command, then settings NAME=VALUE. GO carries three descriptors: stdin, stdout, stderr. */
#pragma once

#include <stdint.h>

#define FATHOM_HOLD_FOLDER "/.fathom"
#define FATHOM_HOLD_SOCKET "/.fathom/run/hold"
#define FATHOM_HOLD_MOST_BYTES 131072

enum fathom_hold_order_kind {
  FATHOM_HOLD_GO = 1,   /* become the command that stands behind hold's own name */
  FATHOM_HOLD_STAY = 2, /* stay and take steps; descriptors as with GO */
  FATHOM_HOLD_STEP = 3, /* start a step: its words and settings follow */
  FATHOM_HOLD_KILL = 4, /* send `value` to the group of the step `id` */
  FATHOM_HOLD_QUIT = 5, /* exit with `value` */
};

enum fathom_hold_flags {
  FATHOM_HOLD_NO_PRELOAD = 1, /* drop LD_PRELOAD: another libc */
};

struct fathom_hold_order {
  uint32_t kind;
  uint32_t flags;
  int32_t id;
  int32_t value;
  uint32_t words;    /* of the command */
  uint32_t settings; /* of the environment */
};

enum fathom_hold_kind {
  FATHOM_HOLD_HELLO = 1,   /* waits; value: which C libraries are there */
  FATHOM_HOLD_FAILED = 2,  /* the command could not be executed: value is errno */
  FATHOM_HOLD_STARTED = 3, /* a step runs */
  FATHOM_HOLD_ENDED = 4,   /* a step has ended: value as wait(2) */
};

enum fathom_hold_libc {
  FATHOM_HOLD_GLIBC = 1,
  FATHOM_HOLD_MUSL = 2,
  FATHOM_HOLD_PROGRAM_MUSL = 4, /* the command itself asks for musl's loader */
};

struct fathom_hold_message {
  uint32_t kind;
  int32_t id;
  int32_t value;
  int32_t reserved;
  int64_t user_ns, system_ns, max_rss_bytes; /* of a step with those it waited for */
};
