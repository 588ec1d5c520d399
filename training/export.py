"""Write a trained model as the files that are shipped: the encoder as an int8 ONNX graph, all the rest as arrays."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
from model import HEADS, WIDTH, DecisionModel
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

# Rows of the table of places: no input is longer.
PLACES = 288


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

    def linear(self, x: str, module: object, name: str) -> str:
        weight = self.constant(f"{name}_w", module.weight.detach().numpy().T)
        bias = self.constant(f"{name}_b", module.bias.detach().numpy())
        return self.add("Add", [self.add("MatMul", [x, weight], f"{name}_product"), bias], name)

    def norm(self, x: str, module: object, name: str) -> str:
        weight = self.constant(f"{name}_w", module.weight.detach().numpy())
        bias = self.constant(f"{name}_b", module.bias.detach().numpy())
        return self.add("LayerNormalization", [x, weight, bias], name, axis=-1, epsilon=1e-12)

    def split(self, x: str, name: str, turned: list[int]) -> str:
        return self.add("Transpose", [self.add("Reshape", [x, "split"], f"{name}_s")], f"{name}_t", perm=turned)


def encoder_graph(model: DecisionModel) -> onnx.ModelProto:
    """The encoder from summed embeddings ``x``, shape ``(1, pieces, width)``, to ``y`` of the same shape."""
    graph = _Graph()
    x = graph.norm("x", model.norm, "embedded")
    for number, layer in enumerate(model.layers):
        p = f"l{number}_"
        query = graph.split(graph.linear(x, layer.q, p + "q"), p + "q", [0, 2, 1, 3])
        key = graph.split(graph.linear(x, layer.k, p + "k"), p + "k", [0, 2, 3, 1])
        value = graph.split(graph.linear(x, layer.v, p + "v"), p + "v", [0, 2, 1, 3])
        scores = graph.add("Mul", [graph.add("MatMul", [query, key], p + "scores"), "scale"], p + "scaled")
        mixed = graph.add("MatMul", [graph.add("Softmax", [scores], p + "shares", axis=-1), value], p + "mixed")
        joined = graph.add(
            "Reshape", [graph.add("Transpose", [mixed], p + "m", perm=[0, 2, 1, 3]), "join"], p + "joined"
        )
        x = graph.norm(graph.add("Add", [graph.linear(joined, layer.ao, p + "ao"), x], p + "r1"), layer.aln, p + "x1")
        inner = graph.add("Gelu", [graph.linear(x, layer.fi, p + "fi")], p + "inner")
        x = graph.norm(graph.add("Add", [graph.linear(inner, layer.fo, p + "fo"), x], p + "r2"), layer.oln, p + "x2")
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


def export(model: DecisionModel, temperature: float, related: np.ndarray, folder: Path) -> None:
    """Write ``encoder.onnx``, ``heads.npz`` and ``related.npy`` into ``folder``.

    Args:
        temperature: what logits are divided by, so that probabilities mean what they say.
        related: the map with which what a sentence acts on is sought, shape ``(width, width)``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "encoder.onnx"
        onnx.save(encoder_graph(model), whole)
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
    np.savez(folder / "heads.npz", temperature=np.float32(temperature), **shipped)
    np.save(folder / "related.npy", related.astype(np.float16))
