"""How a case is measured: the peers' best configurations are found, then all take turns."""

import contextlib
import functools
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


def least_of_three(case, threads, entry, seconds):
    """Of a process that stays, the best median of three slices; of one that is started anew, the best time."""
    if case.measured == "start":
        processes = [contenders.start(entry, case, threads) for _ in range(3)]
        return min((started_ms(each) for each in processes if each), default=None)
    process = contenders.start(entry, case, threads)
    if not process:
        return None
    with process:
        runs = runs_for(process, seconds / 2)
        return min(process.median_ms(runs) for _ in range(3))


def choose(case, threads, entries, seconds):
    """The names of the fastest configurations, best first."""
    times = {}
    for entry in entries:
        least = least_of_three(case, threads, entry, seconds)
        if least:
            times[str(entry)] = least
            log(f"  {entry}: {least:.4f} ms")
    best = min(times.values(), default=0)
    return sorted((name for name in times if times[name] <= NEAR * best), key=times.get)[:3]


def counted(rounds):
    """Without those in which the peer alone was in a slower mode: peers count at their better one."""
    best_ours, best_peer = (min(side) for side in zip(*rounds))
    return [(ours, peer) for ours, peer in rounds if peer <= SLOW * best_peer or ours > SLOW * best_ours]


def take_turns(our_turn, peer_turns, count):
    """For each peer: (our, its) milliseconds of at least `count` rounds that count. A turn is a function that gives them."""
    rounds = [[] for _ in peer_turns]
    for number in range(3 * count):
        our_ms = our_turn()
        for those, turn in zip(rounds, peer_turns):
            those.append((our_ms, turn()))
        if number + 1 >= count and all(len(counted(those)) >= count for those in rounds):
            break
    return [counted(those) for those in rounds]


def error_of(process):
    return max(reference.error(process.outputs(seed), process.case.expected(seed)) for seed in SEEDS)


def row(case, threads, peer, rounds, unit="ms"):
    ratios = sorted(its / ours for ours, its in rounds)
    return {"work": case.work, "shape": list(case.shape), "threads": threads, "peer": peer.entry.peer,
            "peer_version": peer.loaded["version"], "peer_flags": peer.entry.flags,
            f"peer_{unit}": round(statistics.median(each for _, each in rounds), 5),
            f"tenon_{unit}": round(statistics.median(each for each, _ in rounds), 5),
            "ratio": round(statistics.median(ratios), 4), "ratio_p20": round(ratios[int(0.2 * (len(ratios) - 1))], 4),
            "rounds": len(rounds)}


def started_ms(process):
    with process:
        return process.started_ms


def measure_start(case, threads, ours, peers, options):
    """Processes that are started anew, every time until they have a first result."""
    once = [contenders.Process(entry, case, threads) for entry in peers]
    turns = [functools.partial(lambda entry: started_ms(contenders.Process(entry, case, threads)), each) for each in (ours, *peers)]
    for process in once:
        process.close()
    results = take_turns(turns[0], turns[1:], options.rounds)
    return [row(case, threads, peer, rounds) for peer, rounds in zip(once, results)]


def processes_of(stack, case, threads, ours, peers):
    return [stack.enter_context(contenders.Process(entry, case, threads)) for entry in (ours, *peers)]


def measure_memory(case, threads, ours, peers, options):
    """Anonymous memory after some runs."""
    with contextlib.ExitStack() as stack:
        processes = processes_of(stack, case, threads, ours, peers)
        for each in processes:
            each.median_ms(3)
        kb = [each.anonymous_kb() for each in processes]
        return [row(case, threads, peer, [(kb[0], its)], "kb") for peer, its in zip(processes[1:], kb[1:])]


def measure_speed(case, threads, ours, peers, options):
    with contextlib.ExitStack() as stack:
        processes = processes_of(stack, case, threads, ours, peers)
        turns = [functools.partial(each.median_ms, runs_for(each, options.seconds)) for each in processes]
        results = take_turns(turns[0], turns[1:], options.rounds)
        error = error_of(processes[0])
        rows = []
        for peer, rounds in zip(processes[1:], results):
            its = None if peer.entry.peer == "read_probe" else float(f"{error_of(peer):.3g}")
            rows.append({**row(case, threads, peer, rounds), "error": float(f"{error:.3g}"), "peer_error": its})
        return rows


MEASURES = {"speed": measure_speed, "start": measure_start, "memory": measure_memory}


def measure(case, threads, options, choices):
    """The result of a case against the best peer, or None where there is none."""
    log(f"{case.name} threads={threads}")
    entries = contenders.peers_of(case, threads, options.peers)
    peers = choices.finalists(case, threads, entries, options.seconds)
    rows = MEASURES[case.measured](case, threads, contenders.ours(case, options.ours), peers, options)
    return min(rows, key=lambda each: each["ratio"], default=None)
