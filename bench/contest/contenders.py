"""Who takes part, in which configurations, and each of them as a process that waits for its turn."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sysconfig
import tempfile
import time

import numpy as np

from contest.paths import BIN, ROOT, log


@dataclasses.dataclass(frozen=True)
class Entry:
    """One configuration of a contender."""
    peer: str
    program: pathlib.Path
    form: str = ""  # the form of the model that it reads; empty: the first
    settings: tuple = ()  # (key, value) ...
    environment: tuple = ()
    machinery: tuple = ()  # of the environment, too, but no choice: where its libraries are

    @property
    def flags(self):
        words = [f"model={self.form}"] if self.form else []
        return " ".join(words + [f"{key}={value}" for key, value in self.settings + self.environment])

    def __str__(self):
        return f"{self.peer} {self.flags}".strip()


def ours(case, program):
    return Entry("tenon", program or ROOT / "build/release/bin/bench_worker", settings=tuple(case.ours.items()))


def onnxruntime_entries(case, threads):
    for form in case.of_peers:
        for spinning in (1, 0) if threads > 1 else (1,):
            yield Entry("onnxruntime", BIN / "onnxruntime", form, (("spinning", spinning),))


def openvino_entries(case, threads):
    for form in case.of_peers:
        for pinning in (1, 0) if threads > 1 else (1,):
            yield Entry("openvino", BIN / "openvino", form, (("pinning", pinning),))


def onednn_entries(case, threads):
    if "rows" in case.settings:  # it is told of products, not of models
        driver = pathlib.Path(sysconfig.get_paths()["data"]) / "lib/libintelocl.so"  # its package names another path
        yield Entry("onednn", BIN / "onednn", machinery=(("OCL_ICD_FILENAMES", str(driver)), ("ONEDNN_VERBOSE", "0")))


PEERS = {"onnxruntime": onnxruntime_entries, "openvino": openvino_entries, "onednn": onednn_entries}


def peers_of(case, threads, names):
    """What is measured beside ours."""
    if case.bytes_read and threads > 1:
        return [Entry("read_probe", BIN / "read_probe", settings=(("bytes", case.bytes_read),))]
    return [entry for name in names if not case.against or name in case.against for entry in PEERS[name](case, threads)]


class Failed(Exception):
    pass


class Process:
    """A contender with its model. Stopped but for its turns, so that threads that wait actively disturb nobody."""

    def __init__(self, entry, case, threads):
        self.entry, self.case = entry, case
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        self.errors = tempfile.TemporaryFile("w+")
        begin = time.perf_counter()
        self.process = subprocess.Popen([entry.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env={**os.environ, **dict(entry.environment + entry.machinery)},
                                        preexec_fn=lambda: os.sched_setaffinity(0, cores))
        for line in self.job(threads):
            self.tell(line)
        self.loaded = json.loads(self.ask("load"))
        self.first_ms = float(self.ask("first"))
        self.started_ms = (time.perf_counter() - begin) * 1e3  # from nothing to the first result
        self.stop()

    def job(self, threads):
        yield f"model {self.case.model(self.entry.form)}"
        yield f"threads {threads}"
        for key, value in [*self.case.settings.items(), *self.entry.settings]:
            yield f"set {key} {value() if callable(value) else value}"
        for tensor in self.case.inputs:
            yield f"input {tensor.line} {self.case.input_file(tensor, 0)}"
        for tensor in self.case.outputs:
            yield f"output {tensor.line}"

    def tell(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the next answer is missing

    def ask(self, line):
        self.tell(line)
        answer = self.process.stdout.readline()
        if not answer:
            self.process.wait()
            self.errors.seek(0)
            raise Failed(f"{self.entry}: {self.errors.read().strip() or f'exit code {self.process.returncode}'}")
        return answer.strip()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def turn(self, line):
        self.process.send_signal(signal.SIGCONT)
        answer = self.ask(line)
        self.stop()
        return answer

    def median_ms(self, runs):
        return float(self.turn(f"run {runs}").split()[0])

    def anonymous_kb(self):
        return int(self.turn("memory").split()[0])

    def outputs(self, seed):
        with tempfile.NamedTemporaryFile() as file:
            for index, tensor in enumerate(self.case.inputs):
                self.turn(f"fill {index} {self.case.input_file(tensor, seed)}")
            self.turn("first")
            self.turn(f"save {file.name}")
            return np.fromfile(file.name, np.float32).astype(np.float64)

    def close(self):
        self.process.kill()
        self.process.wait()
        for each in (self.process.stdin, self.process.stdout, self.errors):
            each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def start(entry, case, threads):
    """None, and a word about it, where this contender cannot."""
    try:
        return Process(entry, case, threads)
    except (Failed, FileNotFoundError) as problem:
        log(f"  left out: {problem}")
        return None
