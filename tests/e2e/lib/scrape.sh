# SPDX-License-Identifier: Apache-2.0
# For cases: a run that serves metrics, and asking it.

# record_served NAME COMMAND...: starts it in the background; sets url.
record_served() {
  local name=$1
  shift
  $FATHOM run -q -o "$name" --metrics-listen 0 -- "$@" 2>"$name.err" &
  wait_for 10 grep -q http:// "$name.err"
  url=$(grep -o 'http://[^ ]*' "$name.err")
}

# fetch URL FILE: in Python, as curl may be missing. Fails unless the answer is 200 and OpenMetrics.
fetch() {
  python3 -c '
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Accept": "application/openmetrics-text; version=1.0.0"})
with urllib.request.urlopen(request, timeout=10) as answer:
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    open(sys.argv[2], "wb").write(answer.read())
' "$@"
}

# page_has URL TEXT: whether a page that is valid holds it by now.
page_has() { fetch "$1" page && openmetrics page >/dev/null && grep -q -- "$2" page; }
