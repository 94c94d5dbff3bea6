"""The platform as files: a model in ONNX, people with their visible features in Parquet, and its
words.

The files are for platforms that serve files in place of a program. `reader` is the only part of the
model that is not arithmetic: it turns words into numbers.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from platform_sim import samples
from platform_sim.content.features import KINDS, Reader
from platform_sim.content.view_context import make_single_moment
from platform_sim.people.demographics import ATTRIBUTES
from platform_sim.platform import SimulatedPlatform

# Version of the ONNX standard that all runtimes support.
_OPSET, _IR = 18, 9
Tensors = Mapping[str, NDArray[Any]]


def export(platform: SimulatedPlatform, folder: Path) -> dict[str, Any]:
    """Write the files, and return their description."""
    import onnx

    people, seen = _people(platform)
    pq.write_table(people, folder / "people.parquet")
    (folder / "stems.json").write_text(json.dumps(platform.relevance.reader.stems))
    onnx.save(_model(platform), folder / "model.onnx")
    inputs = {"seen": seen, **({"bias_group": ["bias_group"]} if platform.bias else {})}
    return {
        "model": str(folder / "model.onnx"),
        "people": str(folder / "people.parquet"),
        "reader": "platform_sim.export:reader",
        "reader_files": {"stems": str(folder / "stems.json")},
        "inputs": inputs,
        "score_range": list(platform.score_range),
        "context": {name: list(values) for name, values in platform.context.items()},
        "offers": {name: dict(values) for name, values in platform.offers().items()},
    }


def reader(stems: str) -> Callable[[Mapping[str, Any], Mapping[str, str | float]], Tensors]:
    """Return a function that turns content and context into the model's input."""
    words = Reader(tuple(json.loads(Path(stems).read_text())))

    def read(content: Mapping[str, Any], context: Mapping[str, str | float]) -> Tensors:
        return {"content": words.read(content), "moment": make_single_moment(context)}

    return read


def _people(platform: SimulatedPlatform) -> tuple[pa.Table, list[str]]:
    """Return one row per person, and the names of the columns that the model sees."""
    world = platform.world
    columns: dict[str, Any] = {"person": np.arange(world.people)}
    for kind in ("username", "email_sha256", "phone_sha256"):
        holders, identifiers = world.directory.held(kind)
        row = np.full(world.people, -1)
        row[holders] = np.arange(len(holders))
        columns[kind] = identifiers.take(pa.array(row, mask=row < 0))
    for attribute, values in platform.offers().items():
        columns[attribute] = _declared(platform, attribute, list(values))
    seen = {f"seen_{i}": world.seen[:, i] for i in range(world.seen.shape[1])}
    if platform.bias is not None:
        columns["bias_group"] = world.demographics.codes(platform.bias.attribute).astype(np.int64)
    return pa.table({**columns, **seen}), list(seen)


def _declared(platform: SimulatedPlatform, attribute: str, values: list[str]) -> pa.Array:
    """Return each person's declaration to the platform; null if they declared nothing."""
    code = np.full(platform.world.people, -1)
    for index, value in enumerate(values):
        code[samples.list_declared_people(platform.world, attribute, value)] = index
    codes = pa.array(code.astype(np.int32), mask=code < 0)
    return pa.DictionaryArray.from_arrays(codes, values).cast(pa.string())


def _model(platform: SimulatedPlatform) -> Any:
    """Return the arithmetic of `Relevance.score`, and of a bias that is added to it."""
    from onnx import TensorProto, checker, helper, numpy_helper

    weights, width = platform.relevance.weights, platform.world.seen.shape[1]
    ends = {"first": [0], "moment_at": [width], "last": [len(weights)], "along": [1]}
    arrays = {name: np.array(bounds) for name, bounds in ends.items()}
    arrays |= {"weights": weights, "zero": np.zeros(()), "one": np.ones(())}
    nodes = [
        helper.make_node("MatMul", ["weights", "content"], ["effects"]),
        helper.make_node("Slice", ["effects", "first", "moment_at"], ["of_seen"]),
        helper.make_node("Slice", ["effects", "moment_at", "last"], ["of_moment"]),
        helper.make_node("Mul", ["of_moment", "moment"], ["at_moment"]),
        helper.make_node("ReduceSum", ["at_moment"], ["start"], keepdims=1),
        helper.make_node("Mul", ["seen", "of_seen"], ["each"]),
        # Row by row, so that a score never depends on other people.
        helper.make_node("ReduceSum", ["each", "along"], ["leaning"], keepdims=0),
        helper.make_node("Add", ["leaning", "start"], ["log_odds"]),
        helper.make_node("Sigmoid", ["log_odds"], ["chance"]),
    ]
    inputs = [
        helper.make_tensor_value_info("seen", TensorProto.DOUBLE, ["people", width]),
        helper.make_tensor_value_info("content", TensorProto.DOUBLE, [weights.shape[1]]),
        helper.make_tensor_value_info("moment", TensorProto.DOUBLE, [len(weights) - width]),
    ]
    biased = "chance"
    if platform.bias is not None:
        arrays |= _bias(platform)
        nodes += [
            helper.make_node("Gather", ["amounts", "bias_group"], ["amount"]),
            helper.make_node("Gather", ["content", "kind"], ["on"]),
            helper.make_node("Mul", ["amount", "on"], ["bias"]),
            helper.make_node("Add", ["chance", "bias"], ["biased"]),
        ]
        inputs.append(helper.make_tensor_value_info("bias_group", TensorProto.INT64, ["people"]))
        biased = "biased"
    nodes.append(helper.make_node("Clip", [biased, "zero", "one"], ["score"]))
    output = helper.make_tensor_value_info("score", TensorProto.DOUBLE, ["people"])
    initialisers = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "relevance", inputs, [output], initialisers)
    opsets = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR)
    checker.check_model(model, full_check=True)
    return model


def _bias(platform: SimulatedPlatform) -> dict[str, NDArray[Any]]:
    bias = platform.bias
    if bias is None or bias.kind != "additive" or bias.content_kind not in KINDS:
        raise ValueError(
            "only a bias that is added to the scores of one kind of content can be exported"
        )
    amounts = [bias.amounts.get(value, 0.0) for value in ATTRIBUTES[bias.attribute]]
    # In the features of content, a constant comes first and the kinds next.
    return {"amounts": np.array(amounts), "kind": np.array(1 + KINDS.index(bias.content_kind))}
