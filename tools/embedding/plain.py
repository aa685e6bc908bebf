"""Plain distillation: each token's own teacher vector on the principal components, weighted by its rarity."""

import numpy as np
import torch

from bert import Ragged, embed_ids

SIF = 1e-3


def plain_table(student, reference, encoders, joint, projection, counts):
    """`joint`: the projections of two teachers whose centred vectors are put side by side, or None for one teacher."""
    tokens = [t for t, _ in sorted(student.get_vocab().items(), key=lambda item: item[1])]
    known = reference.get_vocab()
    lists = []
    for token in tokens:
        if token in known:
            ids = [known[token]]
        else:
            ids = reference.encode(token, add_special_tokens=False).ids
        lists.append(np.array([101, *ids, 102]))
    texts = Ragged.of(lists)
    parts = [embed_ids(encoder, texts, 16384).float() for encoder in encoders]
    if joint:
        parts = [p.centred(part) for p, part in zip(joint, parts)]
    vectors = projection(torch.cat(parts, 1))
    share = torch.from_numpy(counts / max(1, counts.sum())).to(vectors.device, torch.float32)
    return vectors * (SIF / (SIF + share))[:, None]
