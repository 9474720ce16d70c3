# SPDX-License-Identifier: Apache-2.0
# For cases about calls in the kernel: `. $LIB/kernel_io.sh`.
. "$LIB/io.sh"

# known_sys MODE TIMES THREADS: the layers c and sys of io_known, again and again. LAYERS and INTERVAL are for fathom run.
# The limit on arenas keeps malloc from reading how many CPUs are online when threads meet in it: a call that io_known does not know of.
known_sys() (
  export MALLOC_ARENA_MAX=8
  for ((i = 0; i < $2; ++i)); do
    in_new_folder && $FATHOM run -q --no-tables -i "${INTERVAL:-20ms}" --only --io "$1" --layers "${LAYERS:-c,sys}" -o recording -- "$WORKLOADS/io_known" "$3" >output
    same $? 7 && python3 "$LIB/io_sys.py" recording "$1" "$3" || { echo "run $i: $*" >&2; exit 1; }
    rm -rf "$PWD"
  done
)

# How many programs of ours are loaded.
own_programs() { bpftool prog show | grep -c 'name on_enter' || true; }
programs_more_than() { (($(own_programs) > $1)); }
programs_are() { (($(own_programs) <= $1)); }
