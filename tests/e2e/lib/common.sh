# SPDX-License-Identifier: Apache-2.0
# For cases: `. $LIB/common.sh`.

# check RUN EXPRESSION...: each is Python over `fathom report RUN --as json` and must be true.
check() { python3 "$LIB/check.py" "$@"; }

# The command as an ordinary user.
as_user() {
  if ((EUID == 0)); then
    setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"
  else
    "$@"
  fi
}

# A job of a script ignores SIGINT and SIGQUIT; this starts one as a terminal would.
as_job() { exec env --default-signal=INT,QUIT "$@"; }

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local end=$((SECONDS + $1 + 1))
  shift
  until "$@"; do
    ((SECONDS < end)) || { echo "waited in vain for: $*" >&2; return 1; }
    sleep 0.02
  done
}

# sampled RUN COUNT: whether more samples than that are in the recording by now.
sampled() { (($("$FATHOM" query "$1" --csv 'select count(*) from samples' 2>/dev/null | tail -n 1) > $2)) 2>/dev/null; }

# stolen_ns RUN: how much more the clocks of perf may have counted than the kernel accounts to tasks: the time that
# the host of this machine took away, told in ticks.
stolen_ns() {
  "$FATHOM" query "$1" --csv "select case when max(value) > 0 then max(value) - min(value) + 20e6 else 0 end from gauges where name = 'cpu_steal_total'" | tail -n 1
}

# alone NAME: waits until no other case that says the same name runs.
alone() { exec 9>"/tmp/fathom-e2e-$1.lock"; flock 9; }

gone() { ! kill -0 "$1" 2>/dev/null; }
same() { [[ $1 == "$2" ]] || { echo "found '$1', expected '$2'" >&2; return 1; }; }

# openmetrics FILE [SAMPLE...]: it is valid, and these are its values. The system's Python is the one
# that has prometheus_client.
openmetrics() { PATH=/usr/bin:$PATH python3 "$LIB/openmetrics.py" "$@"; }
