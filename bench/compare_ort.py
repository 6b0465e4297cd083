#!/usr/bin/env python3
"""The encoder's speed against ONNX Runtime, as shared/measuring.md asks: interleaved rounds (ours, peer, ours, peer ...),
each in a process of its own; a ratio per round; median and 20th percentile. The peer runs in its best configuration
(exported or fused model, spinning or not), chosen per shape before timing. JSON lines on stdout, progress on stderr.

  scripts/venv_python.sh bench/compare_ort.py --shapes 1x16,1x128,8x128 --threads 1,2
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEER_CONFIGURATIONS = [
    {"form": form, "spinning": spinning} for form in ("decomposed", "fused") for spinning in (True, False)
]


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def time_peer(model, batch, seq, threads, spinning, seconds):
    """The median milliseconds of ONNX Runtime; runs in a child of this script."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    inputs = {i.name: rng.integers(0, 2, size=(batch, seq), dtype=np.int64) for i in session.get_inputs()}
    for _ in range(2):
        session.run(None, inputs)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        session.run(None, inputs)
        times.append((time.perf_counter() - begin) * 1e3)
    return {"median_ms": statistics.median(times), "runs": len(times), "version": onnxruntime.__version__}


def run_json(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return json.loads(done.stdout.splitlines()[-1])


def peer_round(models, shape, threads, configuration, seconds):
    spinning = ["--spinning"] if configuration["spinning"] else []
    return run_json([sys.executable, __file__, "--peer", models[configuration["form"]], "--shapes", "x".join(map(str, shape)),
                     "--threads", threads, "--seconds", seconds] + spinning)


def our_round(options, models, shape, threads):
    batch, seq = shape
    return run_json([options.tenon, "bench", models["decomposed"], "--dim", f"batch={batch}", "--dim", f"seq={seq}",
                     "--threads", threads, "--seconds", options.seconds, "--json"])


def compare(options, models, shape, threads):
    best = min(PEER_CONFIGURATIONS,
               key=lambda c: peer_round(models, shape, threads, c, options.seconds / 2)["median_ms"])
    ratios, ours, peers, shares, version = [], [], [], [], ""
    for number in range(options.rounds):
        our = our_round(options, models, shape, threads)
        peer = peer_round(models, shape, threads, best, options.seconds)
        ours.append(our["median_ms"])
        shares.append(our["share_of_peak"])
        peers.append(peer["median_ms"])
        ratios.append(peer["median_ms"] / our["median_ms"])
        version = peer["version"]
        log(f"{shape} threads={threads} round {number + 1}/{options.rounds}: {our['median_ms']:.3f} ms, "
            f"peer {peer['median_ms']:.3f} ms, ratio {ratios[-1]:.3f}")
    ordered = sorted(ratios)
    return {"batch": shape[0], "seq": shape[1], "threads": threads, "rounds": len(ratios),
            "ratio_median": round(statistics.median(ratios), 4),
            "ratio_p20": round(ordered[int(0.2 * (len(ordered) - 1))], 4),
            "tenon_ms": round(statistics.median(ours), 4), "peer_ms": round(statistics.median(peers), 4),
            "share_of_peak": round(statistics.median(shares), 4),
            "peer": f"onnxruntime {version}", "peer_configuration": best}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenon", default=ROOT / "build/release/bin/tenon")
    parser.add_argument("--make-encoder", default=ROOT / "build/release/bin/make_encoder")
    parser.add_argument("--shapes", default="1x16,1x128,8x128,1x512")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="per round and side")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--spinning", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    shapes = [tuple(int(extent) for extent in shape.split("x")) for shape in options.shapes.split(",")]
    if options.peer:
        (batch, seq), threads = shapes[0], int(options.threads)
        print(json.dumps(time_peer(options.peer, batch, seq, threads, options.spinning, options.seconds)))
        return
    models = {}
    for form in ("decomposed", "fused"):
        models[form] = ROOT / f"build/bench_{form}.onnx"
        if not models[form].exists():
            subprocess.run([options.make_encoder, models[form], "--form", form], check=True)
    for shape, threads in itertools.product(shapes, options.threads.split(",")):
        print(json.dumps(compare(options, models, shape, int(threads))), flush=True)


if __name__ == "__main__":
    main()
