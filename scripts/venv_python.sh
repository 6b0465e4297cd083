#!/usr/bin/env bash
# Runs a Python program of the tests in build/venv; says how to make it where it is missing.
venv=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/venv
if [ ! -x "$venv/bin/python" ]; then
  echo "build/venv is missing: run scripts/make_venv.sh (./test does)" >&2
  exit 1
fi
exec "$venv/bin/python" "$@"
