"""What is computed: a model as files, with the shapes and numbers it is given. Who computes it is contenders.py."""

import dataclasses
import functools

import numpy as np

from contest import models, reference
from contest.paths import NUMBERS

SEEDS = (0, 1, 2)


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    shape: tuple
    below: int = 0  # integers from 0 to below - 1; 0: f32 from a normal distribution; 1: ones, as i64

    @property
    def type(self):
        return "i64" if self.below else "f32"

    @property
    def line(self):
        return f"{self.name} {self.type} {'x'.join(map(str, self.shape))}"

    def numbers(self, seed):
        rng = np.random.default_rng([seed, *map(ord, self.name)])
        if self.below == 1:
            return np.ones(self.shape, np.int64)
        if self.below:
            return rng.integers(0, self.below, self.shape, dtype=np.int64)
        return rng.standard_normal(self.shape, dtype=np.float32)


@dataclasses.dataclass(frozen=True)
class Case:
    work: str
    shape: tuple
    inputs: tuple
    outputs: tuple
    forms: dict  # name -> function that makes the ONNX file, where it is missing, and gives its path; the first is ours
    peer_forms: dict = None  # what the peers read, where that is something else
    settings: dict = dataclasses.field(default_factory=dict)  # for contenders that read no ONNX
    ours: dict = dataclasses.field(default_factory=dict)  # settings of our own side
    measured: str = "speed"  # or start, memory: rows of rounds.MEASURES
    against: tuple = ()  # the peers that the row is about; empty: all
    bytes_read: int = 0  # what a run must read from memory; with several threads its row is against the read probe

    @property
    def name(self):
        return f"{self.work} {'x'.join(map(str, self.shape))}"

    def model(self, form=None):
        return {**self.forms, **self.of_peers}[form or next(iter(self.forms))]()

    @property
    def of_peers(self):
        return self.forms if self.peer_forms is None else self.peer_forms

    def input_file(self, tensor, seed):
        path = NUMBERS / f"{tensor.name}_{tensor.type}_{tensor.below}_{'x'.join(map(str, tensor.shape))}.{seed}.bin"
        if not path.exists():
            tensor.numbers(seed).tofile(path)
        return path

    def expected(self, seed):
        """The outputs in f64, one after the other."""
        path = NUMBERS / f"{self.model().stem}_{'x'.join(map(str, self.shape))}.{seed}.npy"
        if not path.exists():
            inputs = {each.name: each.numbers(seed) for each in self.inputs}
            np.save(path, reference.evaluate(self.model(), inputs))
        return np.load(path)


def gemm(work, form_makers, rows, depth, columns):
    settings = {"rows": rows, "depth": depth, "columns": columns, "weights": models.weight_file}
    if work == "gemm_gelu":
        settings["bias"] = functools.partial(models.bias_file, columns)
    return Case(work=work, shape=(rows, depth, columns), inputs=(Tensor("x", (rows, depth)),),
                outputs=(Tensor("y", (rows, columns)),),
                forms={name: functools.partial(make, depth, columns) for name, make in form_makers.items()},
                settings=settings)


def one_row(depth, columns):
    """Matrices times vectors: as many as 512 MB of weights are, so that none of them is in a cache when its turn comes."""
    copies = models.WEIGHT_BYTES // (4 * depth * columns)
    return Case(work="m1", shape=(1, depth, columns), inputs=(Tensor("x", (copies, depth)),),
                outputs=(Tensor("y", (copies, columns)),),
                forms={"split": functools.partial(models.one_row, copies, depth, columns)},
                bytes_read=4 * copies * depth * columns)


ENCODER_FORMS = ("decomposed", "fused", "opset17")


def encoder(work, batch, seq, **more):
    ids = (batch, seq)
    return Case(work=work, shape=ids,
                inputs=(Tensor("input_ids", ids, 30522), Tensor("attention_mask", ids, 1), Tensor("token_type_ids", ids, 2)),
                outputs=(Tensor("last_hidden_state", (batch, seq, 384)),),
                forms={form: functools.partial(models.encoder, form) for form in ENCODER_FORMS},
                **more)


def resnet50(batch):
    image = (batch, 3, 224, 224)
    return Case(work="resnet50", shape=image, inputs=(Tensor("image", image),), outputs=(Tensor("logits", (batch, 1000)),),
                forms={"exported": models.resnet50})


WEIGHTS = [(384, 384), (384, 1536), (1536, 384), (768, 768), (768, 3072), (4096, 4096)]
ROWS = (8, 32, 128, 512)


def all_cases():
    for work, forms in (("gemm", {"matmul": models.matmul, "gemm": models.gemm}),
                        ("gemm_gelu", {"exported": models.exported_gelu, "gelu_op": models.gelu_op})):
        for depth, columns in WEIGHTS:
            for rows in ROWS:
                yield gemm(work, forms, rows, depth, columns)
    for batch, seq in ((1, 16), (1, 128), (8, 128), (32, 128), (1, 512)):
        yield encoder("encoder", batch, seq)
    for depth, columns in WEIGHTS:
        yield one_row(depth, columns)
    yield encoder("encoder_bf16", 8, 128, ours={"policy": "auto_mixed"})
    yield encoder("encoder_int8", 8, 128, ours={"policy": "dynamic_int8"}, against=("onnxruntime",),
                  peer_forms={f"{form}_int8{suffix}": functools.partial(models.quantized_encoder, form, per_channel)
                              for form in ENCODER_FORMS for suffix, per_channel in (("", False), ("_per_channel", True))})
    for batch in (1, 8):
        yield resnet50(batch)
    yield encoder("start", 1, 16, measured="start", against=("onnxruntime",))
    yield encoder("memory", 8, 128, measured="memory", against=("onnxruntime",))
