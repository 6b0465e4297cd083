#!/usr/bin/env bash
# sampled.sh N/M COMMAND...: the command with --sample N/M; under `./test --full` without it.
sample=$1
shift
if [ -n "${TENON_TEST_FULL:-}" ]; then exec "$@"; fi
exec "$@" --sample "$sample"
