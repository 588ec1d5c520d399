"""Write a trained model as the files that are shipped: the encoder as an int8 ONNX graph, all the rest as arrays.

In int8 all pieces of a pass share one scale for what goes into a product, and a few channels are ten times as large as
the others. They are evened out first: each channel is divided by a factor, with which its weights are multiplied (Xiao
et al., "SmoothQuant", 2023). Without that, two of a hundred decisions change.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import torch
from examples import Input, stack
from model import HEADS, WIDTH, DecisionModel
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from memwell.builtin.model.decide import Calibration

# Rows of the table of places: no input is longer.
PLACES = 288
# How much of the unevenness goes from the channels into their weights: 0 none, 1 all.
SMOOTHING = 0.65
# Products of a layer that read the same values.
READERS = (("q", "k", "v"), ("ao",), ("fi",), ("fo",))
Factors = dict[tuple[int, str], np.ndarray]


class _Graph:
    """Nodes and weights of the encoder, in the order in which they are made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.constant("scale", np.array(1 / np.sqrt(WIDTH // HEADS), np.float32))
        self.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        self.constant("join", np.array([0, 0, WIDTH], np.int64))

    def constant(self, name: str, values: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: list[str], name: str, **options: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], **options))
        return name

    def even(self, x: str, factors: np.ndarray, name: str) -> str:
        return self.add("Mul", [x, self.constant(f"{name}_factors", 1 / factors)], f"{name}_even")

    def linear(self, x: str, module: object, factors: np.ndarray, name: str) -> str:
        weight = self.constant(f"{name}_w", module.weight.detach().numpy().T * factors[:, None])
        bias = self.constant(f"{name}_b", module.bias.detach().numpy())
        return self.add("Add", [self.add("MatMul", [x, weight], f"{name}_product"), bias], name)

    def norm(self, x: str, module: object, name: str) -> str:
        weight = self.constant(f"{name}_w", module.weight.detach().numpy())
        bias = self.constant(f"{name}_b", module.bias.detach().numpy())
        return self.add("LayerNormalization", [x, weight, bias], name, axis=-1, epsilon=1e-12)

    def split(self, x: str, name: str, turned: list[int]) -> str:
        return self.add("Transpose", [self.add("Reshape", [x, "split"], f"{name}_s")], f"{name}_t", perm=turned)


def channel_factors(model: DecisionModel, inputs: Sequence[Input]) -> Factors:
    """By what each channel that a product reads is divided, by layer and first reader."""
    largest: Factors = {}
    hooks = []
    for number, layer in enumerate(model.layers):
        for readers in READERS:
            key = (number, readers[0])

            def note(module: nn.Module, given: tuple[Tensor, ...], key: tuple[int, str] = key) -> None:
                here = given[0].detach().abs().amax((0, 1)).numpy()
                largest[key] = np.maximum(largest.get(key, here), here)

            hooks.append(getattr(layer, readers[0]).register_forward_pre_hook(note))
    model.eval()
    with torch.no_grad():
        for each in inputs:
            model(*stack([each]))
    for hook in hooks:
        hook.remove()
    factors = {}
    for number, layer in enumerate(model.layers):
        for readers in READERS:
            weights = [getattr(layer, name).weight.detach().abs().amax(0).numpy() for name in readers]
            channels = np.maximum(largest[number, readers[0]], 1e-5) ** SMOOTHING
            factor = channels / np.maximum(np.max(weights, 0), 1e-5) ** (1 - SMOOTHING)
            factors[number, readers[0]] = factor / np.exp(np.log(factor).mean())
    return factors


def encoder_graph(model: DecisionModel, factors: Factors) -> onnx.ModelProto:
    """The encoder from summed embeddings ``x``, shape ``(1, pieces, width)``, to ``y`` of the same shape."""
    graph = _Graph()
    x = graph.norm("x", model.norm, "embedded")
    for number, layer in enumerate(model.layers):
        p = f"l{number}_"
        q, ao, fi, fo = (factors[number, readers[0]] for readers in READERS)
        read = graph.even(x, q, p + "q")
        query = graph.split(graph.linear(read, layer.q, q, p + "q"), p + "q", [0, 2, 1, 3])
        key = graph.split(graph.linear(read, layer.k, q, p + "k"), p + "k", [0, 2, 3, 1])
        value = graph.split(graph.linear(read, layer.v, q, p + "v"), p + "v", [0, 2, 1, 3])
        scores = graph.add("Mul", [graph.add("MatMul", [query, key], p + "scores"), "scale"], p + "scaled")
        mixed = graph.add("MatMul", [graph.add("Softmax", [scores], p + "shares", axis=-1), value], p + "mixed")
        joined = graph.add(
            "Reshape", [graph.add("Transpose", [mixed], p + "m", perm=[0, 2, 1, 3]), "join"], p + "joined"
        )
        attended = graph.linear(graph.even(joined, ao, p + "ao"), layer.ao, ao, p + "ao")
        x = graph.norm(graph.add("Add", [attended, x], p + "r1"), layer.aln, p + "x1")
        inner = graph.add("Gelu", [graph.linear(graph.even(x, fi, p + "fi"), layer.fi, fi, p + "fi")], p + "inner")
        outer = graph.linear(graph.even(inner, fo, p + "fo"), layer.fo, fo, p + "fo")
        x = graph.norm(graph.add("Add", [outer, x], p + "r2"), layer.oln, p + "x2")
    graph.add("Identity", [x], "y")
    shape = [1, "pieces", WIDTH]
    made = helper.make_graph(
        graph.nodes,
        "decision",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        graph.weights,
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def export(model: DecisionModel, related: np.ndarray, inputs: Sequence[Input], folder: Path) -> None:
    """Write ``encoder.onnx``, ``heads.npz`` and ``related.npy`` into ``folder``.

    Args:
        related: the map with which what a sentence acts on is sought, shape ``(width, width)``.
        inputs: some of those trained on, to see how large the values get.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "encoder.onnx"
        onnx.save(encoder_graph(model, channel_factors(model, inputs)), whole)
        quantize_dynamic(
            whole, folder / "encoder.onnx", weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
        )
    arrays = {"places": model.places[:PLACES], "slots": model.slots.weight, "gaps": model.gaps.weight}
    for name, head in {"pair": model.pair, "alone": model.alone}.items():
        for number, at in ((1, 0), (2, 3)):
            arrays[f"{name}_w{number}"] = head[at].weight.T
            arrays[f"{name}_b{number}"] = head[at].bias
    for name, linear in model.sentence.items():
        arrays[f"{name}_w"], arrays[f"{name}_b"] = linear.weight.T, linear.bias
    shipped = {name: array.detach().numpy().astype(np.float16) for name, array in arrays.items()}
    np.savez_compressed(folder / "heads.npz", **shipped)
    np.save(folder / "related.npy", related.astype(np.float16))
    write_calibration(folder, Calibration(temperature=1.0, weight=0.0, origin=0.0))


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write ``calibration.json``; ``export`` leaves one that changes nothing."""
    (folder / "calibration.json").write_text(json.dumps(asdict(calibration)) + "\n", encoding="utf-8")
