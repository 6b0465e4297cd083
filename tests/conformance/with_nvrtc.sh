#!/usr/bin/env bash
# with_nvrtc.sh COMMAND...: runs it where NVRTC is found: an installed toolkit's, or PyPI's wheel, which is put into
# build/venv first where there is no toolkit. No GPU is needed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$root/build/venv/bin/python

of_toolkit() {
  ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so' || compgen -G '/usr/local/cuda/lib64/libnvrtc.so*' >/dev/null
}
of_wheel() {
  compgen -G "$root/build/venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1[0-9]" | head -n 1
}

if [ -z "${TENON_NVRTC:-}" ] && ! of_toolkit; then
  [ -n "$(of_wheel)" ] || "$python" -m pip install --quiet --disable-pip-version-check nvidia-cuda-nvrtc
  TENON_NVRTC=$(of_wheel)
  export TENON_NVRTC
fi
exec "$@"
