"""What is asked of the ratios, by the number of threads."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Gate:
    work: str
    ratio: dict  # threads -> the least ratio
    shapes: tuple = ()  # each by itself; empty: all, their geometric mean


GATES = (
    Gate("gemm", {1: 0.98, 2: 0.98}),
    Gate("gemm_gelu", {1: 1.00, 2: 1.00}),
    Gate("m1", {1: 1.03, 2: 0.9}),  # with 2 threads of the read probe
    Gate("encoder", {1: 1.20, 2: 1.25}, ((1, 16),)),
    Gate("encoder", {1: 1.05, 2: 1.10}, ((1, 128),)),
    Gate("encoder", {1: 1.03, 2: 1.10}, ((8, 128), (32, 128))),
    Gate("encoder", {1: 1.08, 2: 1.15}, ((1, 512),)),
    Gate("encoder_bf16", {1: 1.6, 2: 1.7}, ((8, 128),)),
    Gate("encoder_int8", {1: 1.1, 2: 1.1}, ((8, 128),)),
    Gate("start", {1: 1.5}, ((1, 16),)),
    Gate("memory", {1: 1 / 0.6}, ((8, 128),)),
    Gate("resnet50", {1: 0.85, 2: 0.85}, ((1, 3, 224, 224), (8, 3, 224, 224))),
)
SAME_ERROR = ("gemm", "gemm_gelu", "m1", "encoder", "resnet50")  # errors must be no larger than the peer's


def verdict(name, threads, ratio, wanted, rows):
    return {"gate": name, "threads": threads, "ratio": round(ratio, 4), "wanted": wanted, "met": ratio >= wanted, "rows": rows}


def verdicts(lines):
    """A line for each gate that something was measured for."""
    for gate in GATES:
        for threads, wanted in gate.ratio.items():
            those = [each for each in lines if (each["work"], each["threads"]) == (gate.work, threads)]
            if those and not gate.shapes:
                mean = statistics.geometric_mean(each["ratio"] for each in those)
                yield verdict(f"{gate.work} geomean", threads, mean, wanted, len(those))
            for each in those:
                if tuple(each["shape"]) in gate.shapes:
                    yield verdict(f"{gate.work} {'x'.join(map(str, each['shape']))}", threads, each["ratio"], wanted, 1)
    for work in SAME_ERROR:
        for threads in (1, 2):
            those = [each["peer_error"] / each["error"] for each in lines
                     if (each["work"], each["threads"]) == (work, threads) and each["peer_error"]]
            if those:
                yield verdict(f"{work} error, peer's / ours, least", threads, min(those), 1.0, len(those))
