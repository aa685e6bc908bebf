"""Scores a table: python evaluate.py FOLDER TABLE.npz SET…   (SET: dev.json, test.json or the locomo folder)"""

import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from bert import tokens_of
from retrieval import collections, prepared, scored, table
from vocabulary import tokenizer_of


def vectors(rows, tokens, damping):
    result = np.zeros((len(tokens.lengths), rows.shape[1]), dtype=np.float32)
    for number, (start, length) in enumerate(zip(tokens.starts, tokens.lengths)):
        ids, counts = np.unique(tokens.flat[start : start + length], return_counts=True)
        result[number] = (counts ** (1 - damping)).astype(np.float32) @ rows[ids]
    return result / np.maximum(1e-12, np.linalg.norm(result, axis=1, keepdims=True))


def main():
    folder, packed = Path(sys.argv[1]), np.load(sys.argv[2])
    tokenizer = tokenizer_of(Tokenizer.from_file(str(folder / "tokenizer.json")), str(packed["vocabulary"]).split("\n"))
    rows = packed["rows"].astype(np.float32) * packed["scale"].astype(np.float32)[:, None]
    for path in sys.argv[3:]:
        texts, layout = prepared(collections(path))
        found = scored(vectors(rows, tokens_of(tokenizer, texts), float(packed["damping"])), layout)
        print(sys.argv[2], path, table(found[-2:] if "--brief" in sys.argv else found), sep="\n", flush=True)


if __name__ == "__main__":
    main()
