# SPDX-License-Identifier: Apache-2.0
# For cases about the I/O library: `. $LIB/io.sh`.
. "$LIB/common.sh"

# A folder of its own, with an empty one in it for workloads.
in_new_folder() { cd "$(mktemp -d -p "$TMP")" && mkdir folder; }

# run_io MODE OPTIONS... -- PROGRAM ARGUMENTS...: records into ./recording.
run_io() { $FATHOM run -q --no-tables -i 20ms --probe io -o recording --io "$@"; }

# exact MODE PROGRAM ARGUMENTS...: what is recorded of a workload is what it counted itself, and it ends as it should.
# CHECK is for io_tally.py, RUN for fathom run.
exact() (
  mode=$1 program=$2; shift 2
  in_new_folder && run_io "$mode" ${RUN:---only} -- "$WORKLOADS/$program" "$@" >output 2>&1
  same $? 7 && python3 "$LIB/io_tally.py" recording "$mode" ${CHECK:-} || { echo "$mode: $program $*" >&2; cat output >&2; exit 1; }
)

# known MODE TIMES THREADS: the same of io_known, again and again.
known() (
  for ((i = 0; i < $2; ++i)); do
    in_new_folder && run_io "$1" --only -- "$WORKLOADS/io_known" "$3" >output
    same $? 7 && python3 "$LIB/io_known.py" recording "$1" "$3" || { echo "run $i: $*" >&2; exit 1; }
    rm -rf "$PWD"
  done
)

# alone PROGRAM ARGUMENTS...: the same where nobody records, from profile.pfw.
alone() (
  in_new_folder && LD_PRELOAD=$(dirname "$FATHOM")/../lib/libfathom-io.so "$WORKLOADS/$1" "${@:2}" >output
  same $? 7 && wait_for 10 test ! -e profile.pfw.spools && python3 "$LIB/io_alone.py" $([[ $1 == io_known ]] && echo known || echo tally)
)

# table_of MODE: where its calls are; of a span, count is 1.
table_of() { if [[ $1 == trace ]]; then echo '(select *, 1 as count from spans)'; else echo counters; fi; }

# sandboxed CASE DROPPED BEFORE [AFTER]: of that case of the workload, by each way into the sandbox, so many calls are dropped,
# and recorded are 23 writes and BEFORE more to the file `before`, and AFTER to the file `after`.
sandboxed() (
  set -e; in_new_folder
  for mode in profile trace count; do for how in prctl seccomp syscall-prctl; do
    { "$WORKLOADS/sandboxed" $how "$1" || same $? 7; } >plain
    { run_io $mode --force --only --layers c -- "$WORKLOADS/sandboxed" $how "$1" || same $? 7; } >profiled; cmp plain profiled
    same "$("$FATHOM" query recording --csv "select coalesce(sum(count) filter (where file like '%/before'), 0), coalesce(sum(count) filter (where file like '%/after'), 0) from $(table_of $mode) where name = 'write'" | tail -n 1)" "$((23 + $3)),${4:-0}"
    same "$("$FATHOM" query recording --csv "select dropped from probes where probe = 'io'" | tail -n 1)" "$2"
  done; done
)
