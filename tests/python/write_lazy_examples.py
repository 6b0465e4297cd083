#!/usr/bin/env python3
"""Writes examples/data/lazy_*.npy: what the layers of examples/lazy_*.cpp give, computed with NumPy in f64 from the same
weights (examples/lazy_weights.h). Run it in build/venv when an example changes; what it writes is kept with the sources."""

import math
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/data"


def weights(shape, seed, scale=1.0):
    numbers = (np.arange(math.prod(shape)) * 7919 + seed * 104729) % 1000
    return ((numbers.astype(np.float64) / 1000 - 0.5) * scale).reshape(shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def transformer():
    hidden, heads, key_heads, ffn, tokens = 16, 4, 2, 24, 5
    width = hidden // heads
    x = weights((2, 8, hidden), 12, 4)[:, :tokens]
    normed = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * (weights((hidden,), 1, 0.2) + 1)
    q = (normed @ weights((hidden, hidden), 2).T).reshape(2, tokens, heads, width)
    k = (normed @ weights((width * key_heads, hidden), 3).T).reshape(2, tokens, key_heads, width)
    v = (normed @ weights((width * key_heads, hidden), 4).T).reshape(2, tokens, key_heads, width)
    k, v = (np.repeat(each, heads // key_heads, axis=2) for each in (k, v))
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width)
    scores = np.where(np.tril(np.ones((tokens, tokens), bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    seen = np.einsum("bhqk,bkhd->bqhd", scores / scores.sum(-1, keepdims=True), v).reshape(2, tokens, hidden)
    h = x + seen @ weights((hidden, hidden), 5).T
    again = (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)
    again = again * (weights((hidden,), 6, 0.2) + 1) + weights((hidden,), 7, 0.2)
    gate, up = again @ weights((ffn, hidden), 8).T, again @ weights((ffn, hidden), 9).T
    return h + (gate * sigmoid(gate) * up) @ weights((hidden, ffn), 10).T + weights((hidden,), 11)


def windows(x, kernel, step, padding, fill):
    """[batch, channels, rows, columns, kernel, kernel]"""
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=fill)
    return np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))[:, :, ::step, ::step]


def conv_norm(x, out, kernel, step, seed):
    weight = weights((out, x.shape[1], kernel, kernel), seed)
    y = np.einsum("bcijkl,ockl->boij", windows(x, kernel, step, kernel // 2, 0), weight)
    mean, variance = weights((out,), seed + 1), weights((out,), seed + 2) + 1
    scale, bias = weights((out,), seed + 3) + 1, weights((out,), seed + 4)
    per_channel = (slice(None), None, None)
    y = (y - mean[per_channel]) / np.sqrt(variance[per_channel] + 1e-5)
    return y * scale[per_channel] + bias[per_channel]


def resnet():
    x = windows(weights((2, 3, 8, 8), 100, 4), 3, 1, 1, -np.inf).max((-2, -1))
    first = np.maximum(conv_norm(x, 4, 3, 2, 1), 0)
    return np.maximum(conv_norm(first, 4, 3, 1, 11) + conv_norm(x, 4, 1, 2, 21), 0)


def lstm():
    inputs, hidden, steps, batch = 6, 8, 5, 2
    of_input, of_hidden = weights((4 * hidden, inputs), 1), weights((4 * hidden, hidden), 2)
    h, c, all_steps = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
    for x in weights((steps, batch, inputs), 4, 4):
        i, f, g, o = np.split(x @ of_input.T + weights((4 * hidden,), 3) + h @ of_hidden.T, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        all_steps.append(h)
    return np.stack(all_steps)


def main():
    features = resnet()
    results = {"transformer": transformer(), "resnet": features, "resnet_means": features.mean((2, 3)), "lstm": lstm()}
    for name, values in results.items():
        np.save(DATA / f"lazy_{name}.npy", values.astype(np.float32))


if __name__ == "__main__":
    main()
