# SPDX-License-Identifier: Apache-2.0
# For cases: `. $LIB/common.sh; . $LIB/hub.sh`. What they start ends with the case.

BIN=$(dirname "$FATHOM")

# start_hub NAME COMMAND...: starts a hub by that command on a free port, in the folder $TMP/NAME;
# HUB is then its address, HUB_PORT its port, HUB_PID its process.
start_hub() {
  local name=$1
  shift
  mkdir -p "$TMP/$name"
  : >"$TMP/$name.log"
  (cd "$TMP/$name" && exec "$@" --bind 127.0.0.1 --port "${HUB_PORT_WANTED:-0}" 2>"$TMP/$name.log") &
  HUB_PID=$!
  wait_for 20 grep -q 'serving at' "$TMP/$name.log" || { cat "$TMP/$name.log" >&2; return 1; }
  HUB=$(sed -n 's/.*serving at \(http:[^ ]*\).*/\1/p' "$TMP/$name.log")
  HUB_PORT=${HUB##*:}
  export FATHOM_HUB=$HUB
}

stop_hub() {
  kill -TERM "$HUB_PID"
  wait "$HUB_PID"
}

# start_redis: a server of its own on a free port; REDIS is its address for --store.
start_redis() {
  local port
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  mkdir -p "$TMP/redis"
  redis-server --port "$port" --bind 127.0.0.1 --dir "$TMP/redis" --save '' --appendonly yes \
    --appendfsync always >"$TMP/redis.log" 2>&1 &
  wait_for 20 redis-cli -p "$port" ping >"$TMP/ping" 2>&1
  REDIS=redis://127.0.0.1:$port/0
}

# The walk-through of seed 001's README, command for command. $1: more flags of the server.
seed_walk_through() {
  set -e
  # shellcheck disable=SC2086
  start_hub server "$BIN/profiling-server" ${1:-}
  local at="--bind 127.0.0.1 --port $HUB_PORT"
  # shellcheck disable=SC2086
  {
    "$BIN/profiling-controller" $at --jobid 2001 --cmd CREATE --info "compile list"
    ! "$BIN/profiling-controller" $at --jobid 2001 --cmd CREATE --info again
    mkdir -p src
    printf 'int f(int x) { return x * 2; }\n' >src/a.c
    printf '# a comment\n  # and another\n%s cc1 -O2 -c a.c -o a.o\ncd %s && cc1 -O2 -c a.c -o b.o\n' "$PWD/src" "$PWD/src" >list
    "$BIN/profiling-client" $at --jobid 2001 --commands list --program "$(command -v gcc)" --prepend -O1
    test -e src/a.o && test -e src/b.o
    "$BIN/benchmark-client" $at --jobid 2001 --repeat 3 --events page-faults -- "$WORKLOADS/burn" 50
    "$BIN/profiling-controller" $at --cmd LIST
    "$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_INFO
    "$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_BENCHMARK
    "$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_BENCHMARK --file rows.txt
    "$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_PROFILING --file nodes.txt
    test "$(wc -l <rows.txt)" = 3
    python3 "$LIB/seed_dump.py" nodes.txt rows.txt
    "$BIN/profiling-controller" $at --jobid 2001 --cmd CLEAR_JOB_BENCHMARK
    test -z "$("$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_BENCHMARK)"
    stop_hub
    HUB_PORT_WANTED=$HUB_PORT start_hub server "$BIN/profiling-server" ${1:-}
    "$BIN/profiling-controller" $at --jobid 2001 --cmd SHOW_JOB_PROFILING >again.txt
    same "$(sort again.txt)" "$(sort nodes.txt)"
    ! echo y | "$BIN/profiling-controller" $at --jobid 2001 --cmd REMOVE
    "$BIN/profiling-controller" $at --jobid 2001 --cmd REMOVE --yes </dev/null
    "$BIN/profiling-controller" $at --cmd LIST
    ! "$BIN/profiling-client" $at --jobid 2001 -- true
  }
  stop_hub
}
