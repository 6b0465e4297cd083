"""Writes the cases of tests/lazy_cases: calls, their arguments, and what NumPy makes of them. usage: write_numpy_cases.py FILE"""

import sys

import numpy as np

from tensor_cases import case_file, creation, elementwise, movement, positions, products, reductions


def main(path):
    cases = case_file.CaseFile()
    with np.errstate(all="ignore"):
        for group in (elementwise, movement, reductions, products, positions, creation):
            group.write(cases)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(cases.lines) + "\n")
    print(f"{len(cases.names)} cases in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
