"""Where things lie: all that is made is under build/peers, and can be deleted at any time."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONTEST = ROOT / "bench/contest"
MADE = ROOT / "build/peers"
MODELS = MADE / "models"
NUMBERS = MADE / "numbers"  # inputs and references
BIN = MADE / "bin"  # the peers' workers
LIB = MADE / "lib"


def log(*words):
    print(*words, file=sys.stderr, flush=True)
