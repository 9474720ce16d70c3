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
