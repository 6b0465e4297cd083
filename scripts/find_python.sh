#!/usr/bin/env bash
# Prints a Python 3.9 or newer that can make virtual environments. The first `python3` of PATH may be too old, a shim
# without a version behind it, or lack ensurepip: each candidate is tried, not trusted.
for candidate in "${TENON_PYTHON:-python3}" /usr/bin/python3 python3.13 python3.12 python3.11 python3.10 python3.9; do
  if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1; then
    echo "$candidate"
    exit 0
  fi
done
echo "no Python 3.9 or newer with the venv module found: apt-get install python3-venv, or set TENON_PYTHON" >&2
exit 1
