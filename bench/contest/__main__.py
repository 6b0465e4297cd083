"""Tenon against its peers on this machine's CPU: JSON lines on stdout, progress on stderr. docs/benchmarks.md.

  bench/peers                                     everything, for an hour or so
  bench/peers --work encoder --shape 8x128 --threads 1
  bench/peers --prepare                           files and references only, nothing is timed
"""

import argparse
import json
import sys

from contest import cases, contenders, gates, rounds, setup
from contest.paths import log


def shape(text):
    return tuple(int(extent) for extent in text.split("x"))


def parse():
    parser = argparse.ArgumentParser(prog="bench/peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", nargs="+", help="kinds of work, as --list has them")
    parser.add_argument("--shape", nargs="+", type=shape, help="shapes, as --list has them")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--peers", nargs="+", default=list(contenders.PEERS), choices=list(contenders.PEERS))
    parser.add_argument("--rounds", type=int, default=7, help="the least number of rounds (7)")
    parser.add_argument("--seconds", type=float, default=0.15, help="per side and round (0.15)")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.02 seconds: to see that all works")
    parser.add_argument("--choose", action="store_true", help="find the peers' best configurations again")
    parser.add_argument("--prepare", action="store_true", help="make models, numbers and references, and stop")
    parser.add_argument("--ours", help="our worker (build/release/bin/bench_worker)")
    parser.add_argument("--list", action="store_true", help="the rows, and stop")
    return parser.parse_args()


def main():
    options = parse()
    if options.quick:
        options.rounds, options.seconds = 3, 0.02
    wanted = [case for case in cases.all_cases() if (not options.work or case.work in options.work)
              and (not options.shape or case.shape in options.shape)]
    if options.list:
        print("\n".join(case.name for case in wanted))
        return 0
    if not wanted:
        log("bench/peers: no row is of this work and shape; --list shows them")
        return 2
    setup.prepare(options.ours)
    for case in wanted:
        for seed in cases.SEEDS:
            case.expected(seed)
    if options.prepare:
        return 0
    choices = rounds.Choices(options.choose)
    lines = []
    for threads in options.threads:
        for case in wanted:
            result = rounds.measure(case, threads, options, choices)
            if result:
                lines.append(result)
                print(json.dumps(result), flush=True)
    verdicts = list(gates.verdicts(lines))
    for each in verdicts:
        print(json.dumps(each), flush=True)
    return 0 if all(each["met"] for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
