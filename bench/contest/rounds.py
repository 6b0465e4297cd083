"""How a case is measured: the peers' best configurations are found, then all take turns."""

import contextlib
import json
import math
import statistics

from contest import contenders, reference
from contest.cases import SEEDS
from contest.paths import CONTEST, MADE, log

NEAR = 1.03  # a peer this near to the best one takes part in the rounds, too
SLOW = 1.1  # more than this above its own best is another mode
CHOSEN = MADE / "chosen.json"


def runs_for(process, seconds):
    """How many runs fill so many seconds."""
    once = max(process.median_ms(1), 1e-4)
    return max(1, min(20000, math.ceil(seconds * 1e3 / once)))


class Choices:
    """The peers' best configurations of each case, kept until the peers change."""

    def __init__(self, again):
        self.peers = (CONTEST / "requirements.txt").read_text()
        kept = json.loads(CHOSEN.read_text()) if CHOSEN.exists() and not again else {}
        self.kept = kept if kept.get("peers") == self.peers else {"peers": self.peers}

    def finalists(self, case, threads, entries, seconds):
        key = f"{case.name} threads={threads} " + ",".join(sorted({entry.peer for entry in entries}))
        by_name = {str(entry): entry for entry in entries}
        if key not in self.kept:
            self.kept[key] = choose(case, threads, entries, seconds)
            CHOSEN.write_text(json.dumps(self.kept, indent=1))
        return [by_name[name] for name in self.kept[key] if name in by_name]


def choose(case, threads, entries, seconds):
    """The names of the fastest configurations, best first: the best median of three slices each."""
    times = {}
    for entry in entries:
        process = contenders.start(entry, case, threads)
        if process:
            with process:
                runs = runs_for(process, seconds / 2)
                times[str(entry)] = min(process.median_ms(runs) for _ in range(3))
            log(f"  {entry}: {times[str(entry)]:.4f} ms")
    best = min(times.values(), default=0)
    return sorted((name for name in times if times[name] <= NEAR * best), key=times.get)[:3]


def counted(rounds):
    """Without those in which the peer alone was in a slower mode: peers count at their better one."""
    best_ours, best_peer = (min(side) for side in zip(*rounds))
    return [(ours, peer) for ours, peer in rounds if peer <= SLOW * best_peer or ours > SLOW * best_ours]


def take_turns(ours, peers, count, seconds):
    """For each peer: (our, its) milliseconds of at least `count` rounds that count."""
    runs = {process: runs_for(process, seconds) for process in [ours, *peers]}
    rounds = {peer: [] for peer in peers}
    for number in range(3 * count):
        our_ms = ours.median_ms(runs[ours])
        for peer in peers:
            rounds[peer].append((our_ms, peer.median_ms(runs[peer])))
        if number + 1 >= count and all(len(counted(each)) >= count for each in rounds.values()):
            break
    return {peer: counted(each) for peer, each in rounds.items()}


def error_of(process):
    return max(reference.error(process.outputs(seed), process.case.expected(seed)) for seed in SEEDS)


def line(case, threads, ours, peer, rounds):
    ratios = sorted(peer_ms / our_ms for our_ms, peer_ms in rounds)
    return {"work": case.work, "shape": list(case.shape), "threads": threads, "peer": peer.entry.peer,
            "peer_version": peer.loaded["version"], "peer_flags": peer.entry.flags,
            "peer_ms": round(statistics.median(each for _, each in rounds), 5),
            "tenon_ms": round(statistics.median(each for each, _ in rounds), 5),
            "ratio": round(statistics.median(ratios), 4), "ratio_p20": round(ratios[int(0.2 * (len(ratios) - 1))], 4),
            "rounds": len(rounds), "error": float(f"{error_of(ours):.3g}"), "peer_error": float(f"{error_of(peer):.3g}")}


def measure(case, threads, options, choices):
    """The result of a case against the best peer, or None where there is none."""
    log(f"{case.name} threads={threads}")
    entries = [entry for name, make in contenders.PEERS.items() if name in options.peers for entry in make(case, threads)]
    finalists = choices.finalists(case, threads, entries, options.seconds)
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(contenders.Process(contenders.ours(case, options.ours), case, threads))
        peers = [stack.enter_context(contenders.Process(entry, case, threads)) for entry in finalists]
        results = take_turns(ours, peers, options.rounds, options.seconds)
        lines = [line(case, threads, ours, peer, rounds) for peer, rounds in results.items()]
    return min(lines, key=lambda each: each["ratio"], default=None)
