"""A small BERT encoder: enough to run the teachers, on the CPU or on an accelerator, without any model library."""

import json

import numpy as np
import torch
import torch.nn.functional as F


class Encoder:
    """Weights as packed by pack_teachers.py; `pooling` is "mean" or "first" (the vector of [CLS])."""

    def __init__(self, path, device="cpu", dtype=torch.float32):
        with np.load(path) as packed:
            self.settings = json.loads(bytes(packed["settings"]).decode())
            self.weights = {
                name: torch.from_numpy(packed[name]).to(device=device, dtype=dtype)
                for name in packed.files
                if name != "settings"
            }
        self.device = device
        self.heads = 12
        self.dimensions = self.weights["embeddings.word_embeddings.weight"].shape[1]

    def linear(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], 1e-12)

    @torch.inference_mode()
    def embed(self, ids, mask):
        """Unit vectors of a padded batch: ids (n, length), mask (n, length) of 0 and 1."""
        w = self.weights
        x = F.embedding(ids, w["embeddings.word_embeddings.weight"])
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]] + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        visible = mask[:, None, None, :].bool()
        for layer in range(self.settings["layers"]):
            name = f"encoder.layer.{layer}"
            q, k, v = (
                self.linear(x, f"{name}.attention.self.{part}").unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for part in ("query", "key", "value")
            )
            attended = F.scaled_dot_product_attention(q, k, v, attn_mask=visible).transpose(1, 2).flatten(2)
            x = self.norm(x + self.linear(attended, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
            inner = F.gelu(self.linear(x, f"{name}.intermediate.dense"))
            x = self.norm(x + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        if self.settings["pooling"] == "first":
            pooled = x[:, 0].float()
        else:
            weights = mask.unsqueeze(-1).float()
            pooled = (x.float() * weights).sum(1) / weights.sum(1)
        return F.normalize(pooled, dim=-1)


class Ragged:
    """Token ids of many texts in one flat array."""

    def __init__(self, flat, lengths):
        self.flat, self.lengths = flat, lengths
        self.starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)

    @classmethod
    def of(cls, lists):
        return cls(np.concatenate(lists).astype(np.int32), np.array([len(ids) for ids in lists], dtype=np.int64))


def tokens_of(tokenizer, texts, max_length=None, special=False):
    """Ids of texts; a text without a token stands as one [PAD]."""
    tokenizer.no_padding()
    tokenizer.no_truncation() if max_length is None else tokenizer.enable_truncation(max_length)
    flats, lengths = [], []
    for start in range(0, len(texts), 200_000):
        encoded = tokenizer.encode_batch_fast(texts[start : start + 200_000], add_special_tokens=special)
        lists = [e.ids or [0] for e in encoded]
        lengths += map(len, lists)
        flats.append(np.fromiter((i for ids in lists for i in ids), dtype=np.int32))
    return Ragged(np.concatenate(flats), np.array(lengths, dtype=np.int64))


def embed_ids(encoder, texts, tokens_per_batch=65536):
    """Unit vectors of texts, in order; a batch holds texts of similar length."""
    order = np.argsort(-texts.lengths, kind="stable")
    vectors = torch.empty((len(order), encoder.dimensions), dtype=torch.float16, device=encoder.device)
    flat = torch.from_numpy(texts.flat).to(encoder.device)
    start = 0
    while start < len(order):
        longest = int(texts.lengths[order[start]])
        chosen = order[start : start + max(1, tokens_per_batch // longest)]
        lengths = torch.from_numpy(texts.lengths[chosen]).to(encoder.device)[:, None]
        places = torch.arange(longest, device=encoder.device)[None]
        at = torch.from_numpy(texts.starts[chosen]).to(encoder.device)[:, None] + places
        mask = places < lengths
        ids = flat[at.clamp_max(len(flat) - 1)].long() * mask
        vectors[torch.from_numpy(chosen).to(encoder.device)] = encoder.embed(ids, mask.long()).half()
        start += len(chosen)
    return vectors


def embed_texts(encoder, tokenizer, texts, max_length=256, tokens_per_batch=65536):
    return embed_ids(encoder, tokens_of(tokenizer, texts, max_length, special=True), tokens_per_batch)
