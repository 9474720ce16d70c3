# SPDX-License-Identifier: Apache-2.0
# For cases about Python: `. $LIB/pythons.sh`.

# pythons: one interpreter per line, one of each version from 3.8 on that is installed: in PATH, or by pyenv.
pythons() {
  local program versions
  versions=$(dirname "$(command -v python3)")/../versions
  for program in python3 /usr/bin/python3 python3.{8..15} "$versions"/3.*/bin/python3; do
    program=$(command -v "$program") || continue
    "$program" -c 'import sys; sys.version_info >= (3, 8) and print(*sys.version_info[:2], sys.executable)' 2>/dev/null
  done | sort -u -n -k1,1 -k2,2 | awk '{ print $3 }'
}
