#!/usr/bin/env bash
# make_venv.sh [FOLDER LIST]: makes a virtual environment with what a list names, from PyPI. Without words build/venv, with
# what the tests compare with: NumPy, onnx and ONNX Runtime. Does nothing when the environment was made from the same
# list and still works.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${1:-$root/build/venv}
list=${2:-$root/scripts/requirements.txt}

cmp -s "$list" "$venv/made_from.txt" && "$venv/bin/python" -c 'import numpy, onnx, onnxruntime' && exit 0
python=$("$root/scripts/find_python.sh")
rm -rf "$venv"
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list" || {
  echo "could not install $(tr '\n' ' ' <"$list")from PyPI: check the network or set PIP_INDEX_URL to a mirror"
  exit 1
}
cp "$list" "$venv/made_from.txt"
