# SPDX-License-Identifier: Apache-2.0
# For cases with containers: `. $LIB/docker.sh; start_engine`. The engine is the case's own and ends with
# its shell, as do its containers.
. "$LIB/common.sh"

start_engine() {
  engine=$(mktemp -d /var/tmp/fathom-engine.XXXXXX) # on a disk, for memory is counted; its socket needs a short name
  export DOCKER_HOST=unix://$engine/docker.sock
  dockerd --data-root "$engine/data" --exec-root "$engine/exec" -p "$engine/pid" -H "$DOCKER_HOST" \
    --iptables=false --ip6tables=false --bridge=none --storage-driver="${STORAGE_DRIVER:-overlay2}" \
    >engine.log 2>&1 &
  engine_pid=$!
  trap stop_engine EXIT
  wait_for 30 docker version >docker.txt 2>&1 || { tail -5 engine.log >&2; return 1; }
}

stop_engine() {
  docker ps -aq 2>/dev/null | xargs -r docker rm -f >/dev/null 2>&1
  kill "$engine_pid" 2>/dev/null
  wait "$engine_pid" 2>/dev/null
  awk -v under="$engine/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l
  rm -rf --one-file-system "$engine"
}

# make_image NAME PROGRAM: an image of its own that has PROGRAM as /inside/NAME, and what it links.
make_image() {
  local tree=$TMP/image-$1
  mkdir -p "$tree/inside"
  mkdir -m 1777 "$tree/tmp"
  cp "$2" "$tree/inside/$1"
  ldd "$2" | grep -o '/[^ ]*' | while read -r library; do cp --parents -L "$library" "$tree"; done
  tar -C "$tree" -c . | docker import - "$1" >/dev/null
  rm -rf "$tree"
}

# make_swap: some swap until the case ends, where the host has none.
make_swap() {
  [ "$(wc -l </proc/swaps)" -gt 1 ] && return
  swap=$(mktemp /var/tmp/fathom-swap.XXXXXX)
  trap 'swapoff "$swap"; rm -f "$swap"; stop_engine' EXIT
  dd if=/dev/zero of="$swap" bs=1M count=192 status=none && mkswap -q "$swap" && swapon "$swap"
}

# make_example NAME: an image of examples/images, or its dataset.
make_example() { "$LIB/../../../examples/images/make" "$@" >/dev/null; }

# The same of Podman: its service speaks Docker's API.
start_podman() {
  engine=$(mktemp -d /var/tmp/fathom-engine.XXXXXX)
  export DOCKER_HOST=unix://$engine/podman.sock CONTAINERS_CONF=$engine/containers.conf
  printf '[containers]\ndefault_ulimits = []\nnetns = "none"\n[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n' \
    >"$CONTAINERS_CONF"
  podman --root "$engine/root" --runroot "$engine/run" --storage-driver vfs system service --time 0 "$DOCKER_HOST" \
    >engine.log 2>&1 &
  engine_pid=$!
  trap stop_engine EXIT
  wait_for 30 docker version >docker.txt 2>&1 || { tail -5 engine.log >&2; return 1; }
}

# start_proxy NAME OPTION...: DOCKER_HOST is now a proxy of the engine (engine_proxy.py), $proxy its socket. Ended with
# the case's shell.
start_proxy() {
  proxy=$engine/$1.sock
  shift
  python3 "$LIB/engine_proxy.py" "$proxy" "$engine/docker.sock" "$@" &
  proxies="$proxies $!"
  trap 'kill $proxies; DOCKER_HOST=unix://$engine/docker.sock stop_engine' EXIT
  wait_for 20 test -S "$proxy"
}
