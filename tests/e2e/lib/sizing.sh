# SPDX-License-Identifier: Apache-2.0
# For cases that compare sizing with the files of cgroups: `. $LIB/docker.sh; . $LIB/sizing.sh`.

# truth_of CONTAINER OUT: reads the files of its cgroup every 10 ms, in the background, until end_truth.
truth_of() {
  python3 "$LIB/sizing_truth.py" record "$(docker inspect -f '{{.Id}}' "$1")" "$2" &
  truth=$!
  wait_for 20 test -e "$2.ready"
}

# truth_of_next OUT [IMAGE]: the same of the next container that runs.
truth_of_next() {
  (
    id=
    until [ -n "$id" ]; do id=$(docker ps -q --no-trunc ${2:+--filter ancestor=$2} 2>/dev/null | head -1); done
    exec python3 "$LIB/sizing_truth.py" record "$id" "$1"
  ) &
  truth=$!
}

end_truth() {
  kill -TERM "$truth" 2>/dev/null || true
  wait "$truth" || true
}

compare() { python3 "$LIB/sizing_truth.py" compare "$@"; }

# cpu_of CONTAINER: the directory with the cpu.stat that counts its periods. cpu_tree: where that tree is mounted.
cpu_of() { find /sys/fs/cgroup -type d -path "*$(docker inspect -f '{{.Id}}' "$1")*" -exec grep -qs nr_periods {}/cpu.stat \; -print -quit 2>/dev/null; }
cpu_tree() { if [ -e /sys/fs/cgroup/cpu/cpu.stat ]; then echo /sys/fs/cgroup/cpu; else echo /sys/fs/cgroup; fi; }
limit_cpu() { if [ -e "$1/cpu.max" ]; then echo "${2}000 100000" >"$1/cpu.max"; else echo "${2}000" >"$1/cpu.cfs_quota_us"; fi; }
counted() { awk -v name="$2" '$1 == name { print $2 }' "$(cpu_of "$1")/cpu.stat"; }
periods_more_than() { (($(counted "$1" nr_periods) > $2)); }
throttled_more_than() { (($(counted "$1" nr_throttled) > $2)); }
# Its first process waits for a sleep.
asleep() { grep -q '^State:\s*S' "/proc/$(docker inspect -f '{{.State.Pid}}' "$1")/status"; }
# peak_above CONTAINER MIB: and it was given back.
peak_above() {
  local folder
  folder=$(find /sys/fs/cgroup -type d -path "*$(docker inspect -f '{{.Id}}' "$1")" \( -exec test -e {}/memory.peak \; -o -exec test -e {}/memory.max_usage_in_bytes \; \) -print -quit)
  (($(cat "$folder"/memory.peak "$folder"/memory.max_usage_in_bytes 2>/dev/null) > $2 << 20)) &&
    (($(cat "$folder"/memory.current "$folder"/memory.usage_in_bytes 2>/dev/null) < $2 << 19))
}
# has_readings RUN: it is recorded by now.
has_readings() { (($("$FATHOM" query "$1" --csv 'select count(*) from gauges' 2>/dev/null | tail -n 1) > 0)) 2>/dev/null; }
