# SPDX-License-Identifier: Apache-2.0
# For cases about the CUDA library: `. $LIB/cuda.sh`. Programs run on a libcuda.so.1 of our own.
. "$LIB/common.sh"

CUDA=$WORKLOADS/cuda
export LD_LIBRARY_PATH=$CUDA
library=$(dirname "$FATHOM")/../lib/libfathom-cuda.so

in_new_folder() { cd "$(mktemp -d -p "$TMP")"; }
run_cuda() { $FATHOM run -q --no-tables -i 20ms --only --probe cuda -o recording "$@"; }

# exact STATUS PROGRAM ARGUMENTS...: what is recorded is what the program counted itself, and it ends as it should.
exact() (
  status=$1 program=$2; shift 2
  in_new_folder && run_cuda -- "$CUDA/$program" "$@" >output 2>&1
  same $? "$status" && python3 "$LIB/cuda_tally.py" recording || { echo "$program $*" >&2; cat output >&2; exit 1; }
  rm -rf "$PWD"
)

# alone STATUS PROGRAM ARGUMENTS...: the same where nobody records, from the logs.
alone() (
  status=$1 program=$2; shift 2
  in_new_folder && { LD_PRELOAD=$library PFLOG=logs "$CUDA/$program" "$@" >output 2>&1; } 2>/dev/null
  same $? "$status" && python3 "$LIB/cuda_tally.py" logs || { echo "alone: $program $*" >&2; cat output >&2; exit 1; }
  rm -rf "$PWD"
)
