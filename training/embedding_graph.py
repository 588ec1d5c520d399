"""Write the graph of the embedder, without its weights: ``python training/embedding_graph.py``; needs ``onnx``.

The graph is multilingual-e5-small behind its embedding table: 12 layers of self-attention over texts of one length,
then the mean over the tokens; the tokens themselves are the second output. Each weight is declared under the name by
which ``memwell.builtin.model.embedding`` hands it over. The file names itself as the place of the weights, since
onnxruntime wants that place to exist.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, INNER, LAYERS, EPSILON = 384, 12, 1536, 12, 1e-12
BLOCK = 32
PATH = Path(__file__).parents[1] / "src/memwell/builtin/model/embedding.onnx"


class Graph:
    """Nodes and initializers as they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        """An initializer inside the file."""
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def given(self, name: str, shape: list[int], kind: int = TensorProto.FLOAT) -> str:
        """An initializer that is handed over at load time."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=PATH.name)
        self.initializers.append(tensor)
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: object) -> str:
        """A node with one output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def linear(self, value: str, name: str, outputs: int, inputs: int) -> str:
        """``value`` times a 4-bit matrix, plus a bias; activations are rounded to 8 bits by blocks."""
        blocks = [outputs, inputs // BLOCK, BLOCK // 2]
        weight = self.given(f"{name}.w", blocks, TensorProto.UINT8)
        scale = self.given(f"{name}.scale", [outputs * inputs // BLOCK])
        bias = self.given(f"{name}.b", [outputs])
        return self.node(
            "MatMulNBits",
            [value, weight, scale, "", "", bias],
            f"{name}.out",
            domain="com.microsoft",
            K=inputs,
            N=outputs,
            bits=4,
            block_size=BLOCK,
            accuracy_level=4,
        )

    def normed(self, value: str, name: str) -> str:
        """Layer normalisation."""
        weight, bias = self.given(f"{name}.w", [HIDDEN]), self.given(f"{name}.b", [HIDDEN])
        return self.node("LayerNormalization", [value, weight, bias], f"{name}.out", axis=-1, epsilon=EPSILON)

    def attended(self, value: str, name: str) -> str:
        """Self-attention, before its output matrix; one product for queries, keys and values rounds its input once."""
        flat = self.linear(value, f"{name}.qkv", 3 * HIDDEN, HIDDEN)
        heads = self.node("Reshape", [flat, "heads"], f"{flat}.heads")
        turned = self.node("Transpose", [heads], f"{heads}.turned", perm=[0, 2, 1, 3])
        query, key, values = (f"{name}.{part}" for part in "qkv")
        self.nodes.append(helper.make_node("Split", [turned], [query, key, values], axis=1, num_outputs=3))
        across = self.node("Transpose", [key], f"{key}.across", perm=[0, 1, 3, 2])
        scores = self.node("MatMul", [query, across], f"{name}.scores")
        scaled = self.node("Mul", [scores, "scale"], f"{scores}.scaled")
        shares = self.node("Softmax", [scaled], f"{name}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, values], f"{name}.mixed")
        turned = self.node("Transpose", [mixed], f"{mixed}.turned", perm=[0, 2, 1, 3])
        return self.node("Reshape", [turned, "joined"], f"{mixed}.joined")

    def layer(self, value: str, name: str) -> str:
        """One layer of the encoder."""
        attended = self.linear(self.attended(value, name), f"{name}.ao", HIDDEN, HIDDEN)
        value = self.normed(self.node("Add", [attended, value], f"{attended}.sum"), f"{name}.aln")
        inner = self.node("Gelu", [self.linear(value, f"{name}.fi", INNER, HIDDEN)], f"{name}.gelu")
        outer = self.linear(inner, f"{name}.fo", HIDDEN, INNER)
        return self.normed(self.node("Add", [outer, value], f"{outer}.sum"), f"{name}.oln")


def embedding() -> onnx.ModelProto:
    """Input ``embedded``, shape ``(texts, tokens, 384)``; outputs the last layer and its ``mean``, ``(texts, 384)``."""
    graph = Graph()
    graph.constant("heads", np.array([0, 0, 3 * HEADS, HIDDEN // HEADS], np.int64))
    graph.constant("joined", np.array([0, 0, HIDDEN], np.int64))
    graph.constant("scale", np.array((HIDDEN // HEADS) ** -0.5, np.float32))
    graph.constant("tokens", np.array([1], np.int64))
    value = graph.normed("embedded", "emb.ln")
    for number in range(LAYERS):
        value = graph.layer(value, f"l{number}")
    graph.node("ReduceMean", [value, "tokens"], "mean", keepdims=0)
    whole = helper.make_graph(
        graph.nodes,
        "embedding",
        [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["texts", "tokens", HIDDEN])],
        [
            helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["texts", HIDDEN]),
            helper.make_tensor_value_info(value, TensorProto.FLOAT, ["texts", "tokens", HIDDEN]),
        ],
        graph.initializers,
    )
    operators = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(whole, opset_imports=operators, ir_version=9)


if __name__ == "__main__":
    PATH.write_bytes(embedding().SerializeToString())
