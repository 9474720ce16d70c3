# SPDX-License-Identifier: Apache-2.0
# For cases that attach: `. $LIB/attach.sh`. $target and $folder are those of the newest target, $recorder is
# fathom's; with user=$ordinary both run as an ordinary user.
. "$LIB/common.sh"
user=
ordinary=
if ((EUID == 0)); then ordinary='setpriv --reuid 65534 --regid 65534 --clear-groups --'; fi

# start_on_signal FOLDER [FUNCTION]: the workload on_signal, ready, started by FUNCTION.
start_on_signal() {
  folder=$1
  mkdir -m 777 "$folder"
  # shellcheck disable=SC2086
  (${2:-exec} $user "$WORKLOADS/on_signal" "$folder") &
  target=$!
  wait_for 20 test -e "$folder/ready"
}

# record NAME FLAGS...: fathom in the background, once it records; what it says is also in NAME.err.
record() {
  local name=$1
  shift
  # shellcheck disable=SC2086
  (exec $user env --default-signal=INT,QUIT "$FATHOM" run --progress always -o "$name" "$@") \
    2> >(tee "$name.err" >&2) &
  recorder=$!
  said=$name.err
  wait_for 20 grep -qs 'fathom: 00:' "$said"
}

# ask SIGNAL WORD: has the target do something and waits until it is done.
ask() { kill "-$1" "$target" && wait_for 20 test -e "$folder/$2"; }
stop_recorder() { kill "-$1" "$recorder" && wait "$recorder"; }
alive() { kill -0 "$target"; }

# make_cgroup: a cgroup of the case's own in $cgroup; in_cgroup starts a command in it.
make_cgroup() {
  cgroup=$(findmnt -n -t cgroup2 -o TARGET | head -1)/fathom-e2e-$$
  mkdir "$cgroup"
}
in_cgroup() { echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$@"; }
