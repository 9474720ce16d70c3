# SPDX-License-Identifier: Apache-2.0
# For cases with containers: `. $LIB/docker.sh; start_engine`. The engine is the case's own and ends with
# its shell, as do its containers.
. "$LIB/common.sh"

start_engine() {
  engine=$(mktemp -d /tmp/fathom-engine.XXXXXX) # its socket's name must be short
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
  cp "$2" "$tree/inside/$1"
  ldd "$2" | grep -o '/[^ ]*' | while read -r library; do cp --parents -L "$library" "$tree"; done
  tar -C "$tree" -c . | docker import - "$1" >/dev/null
  rm -rf "$tree"
}
