"""Teacher vectors of the corpus, plain distillation, fit and contrast; every variant is scored on the dev set.

    python train.py FOLDER OUT [--device cuda] [--records N] [--seconds S] [--quick]

FOLDER holds corpus.jsonl.xz, dev.json, test.json, names.json, tokenizer.json, minilm.npz and, if wanted, bge.npz.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from bert import Encoder, Ragged, embed_ids, embed_texts, tokens_of
from fit import Projection, Texts, all_vectors, fit_contrast, fit_regression, quantised
from plain import plain_table
from retrieval import collections, prepared, scored, table as listing
from segments import records, texts_and_pairs
from variants import VARIANTS
from vocabulary import extended_tokenizer, extra_words

SEED = 20260101
BEGUN = time.time()
QUESTION_PREFIX = {"minilm": "", "bge": "Represent this sentence for searching relevant passages: "}


def say(*words):
    print(f"[{time.time() - BEGUN:6.1f}s]", *words, flush=True)


def gathered(folder, at_most, workers):
    """Unique texts, pairs of their numbers, and for each source which pairs are its own."""
    names = json.loads((folder / "names.json").read_text())
    numbers, pairs, pools = {}, [], {}
    work = ((n, r, names) for n, r in enumerate(records(folder / "corpus.jsonl.xz", at_most)))
    with multiprocessing.Pool(workers) as pool:
        for source, texts, found in pool.imap(texts_and_pairs, work, chunksize=500):
            for text in texts:
                numbers.setdefault(text, len(numbers))
            for question, passage in found:
                pools.setdefault(source, []).append(len(pairs))
                pairs.append((numbers.setdefault(question, len(numbers)), numbers.setdefault(passage, len(numbers))))
    return list(numbers), np.array(pairs), {s: np.array(p) for s, p in pools.items()}


class Scores:
    """Scores of tables and teachers on the dev and the test set."""

    def __init__(self, folder, device):
        self.device = device
        self.sets = {n: prepared(collections(folder / f"{n}.json")) for n in ("dev", "test")}
        self.lists = {}

    def of_table(self, table, tokenizer, key, damping):
        rows = {}
        for name, (texts, layout) in self.sets.items():
            if (name, key) not in self.lists:
                self.lists[name, key] = tokens_of(tokenizer, texts)
            vectors = all_vectors(Texts(self.lists[name, key], self.device, damping), table)
            rows[name] = scored(vectors.float().cpu().numpy(), layout)
        return rows

    def of_teacher(self, encoder, tokenizer, prefix):
        rows = {}
        for name, (texts, layout) in self.sets.items():
            asked = list(texts)
            for _, _, _, middle, end, _ in layout:
                asked[middle:end] = [prefix + text for text in asked[middle:end]]
            rows[name] = scored(embed_texts(encoder, tokenizer, asked).float().cpu().numpy(), layout)
        return rows


def prepared_state(options, reference, precision):
    """Texts, tokens and teacher vectors; kept beside the corpus, so that a second run starts with the fit."""
    kept = options.folder / "state.pt"
    if kept.exists():
        return torch.load(kept, weights_only=False, mmap=True)
    texts, pairs, pools = gathered(options.folder, options.records, options.workers)
    say(len(texts), "texts", len(pairs), "pairs")
    tokens = tokens_of(reference(), texts, 256, special=True)
    words = extra_words(options.folder, reference(), texts, options.workers)
    say(len(tokens.flat), "tokens;", len(words), "extra words, such as", words[::1500])
    students = {}
    for name, added in (("reference", []), ("extended", words)):
        found = tokens_of(extended_tokenizer(reference(), added), texts, 512)
        students[name] = (found.flat, found.lengths)
        say(name, len(found.flat), "student tokens")
    teachers = {}
    for name in QUESTION_PREFIX:
        if (options.folder / f"{name}.npz").exists():
            encoder = Encoder(options.folder / f"{name}.npz", options.device, precision)
            teachers[name] = embed_ids(encoder, tokens, 262_144 if options.device == "cuda" else 4096).cpu().numpy()
            say("teacher", name, teachers[name].shape)
    state = {"pairs": pairs, "pools": pools, "words": words, "students": students, "teachers": teachers}
    if options.keep:
        torch.save(state, kept, pickle_protocol=4)
        say("state kept")
    return state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--records", type=int)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    device = options.device
    precision = torch.float16 if device == "cuda" else torch.float32
    generator = torch.Generator().manual_seed(SEED)
    reference = lambda: Tokenizer.from_file(str(options.folder / "tokenizer.json"))  # noqa: E731

    state = prepared_state(options, reference, precision)
    pairs = torch.from_numpy(state["pairs"]).to(device)
    pools = [torch.from_numpy(pool).to(device) for pool in state["pools"].values()]
    teachers = {name: torch.from_numpy(vectors).to(device) for name, vectors in state["teachers"].items()}
    lists = {name: Ragged(*state["students"][name]) for name in state["students"]}
    tokenizers = {"reference": extended_tokenizer(reference(), []), "extended": extended_tokenizer(reference(), state["words"])}
    scores, results = Scores(options.folder, device), {}
    encoders = {name: Encoder(options.folder / f"{name}.npz", device, precision) for name in teachers}
    for name, encoder in encoders.items():
        results[f"teacher {name}"] = scores.of_teacher(encoder, reference(), QUESTION_PREFIX[name])
        say("teacher", name, [f"{k} R@5 {v[-1][2]:.4f} MRR {v[-1][3]:.4f} nDCG {v[-1][4]:.4f}" for k, v in results[f"teacher {name}"].items()])
    if len(teachers) == 2:
        both = [Projection(t, 384, generator) for t in teachers.values()]
        teachers["both"] = torch.cat([p.centred(t).half() for p, t in zip(both, teachers.values())], 1)

    made, kept, best = {}, {}, (0.0, "")
    for variant in VARIANTS:
        if variant["teacher"] not in teachers or time.time() - BEGUN > options.seconds:
            continue
        if options.quick:
            variant = {**variant, **({"epochs": 1} if "epochs" in variant else {}), **({"contrast": {**variant["contrast"], "steps": 3, "batch": 64}} if "contrast" in variant else {})}
        key = (variant["teacher"], variant["vocabulary"], variant["damping"], variant.get("epochs", 0))
        counts = np.bincount(lists[variant["vocabulary"]].flat, minlength=tokenizers[variant["vocabulary"]].get_vocab_size())
        if variant["teacher"] not in kept:
            projection = Projection(teachers[variant["teacher"]], 256, generator)
            kept[variant["teacher"]] = (projection, torch.cat([projection(part).half() for part in teachers[variant["teacher"]].split(200_000)]))
        projection, targets = kept[variant["teacher"]]
        if key not in made:
            student = Texts(lists[variant["vocabulary"]], device, variant["damping"])
            members = ["minilm", "bge"] if variant["teacher"] == "both" else [variant["teacher"]]
            table = plain_table(tokenizers[variant["vocabulary"]], reference(), [encoders[m] for m in members],
                                both if variant["teacher"] == "both" else None, projection, counts)
            loss = None
            if variant.get("epochs"):
                table, loss = fit_regression(table, student, targets, variant["epochs"], variant["rate"],
                                             256 if options.quick else variant["batch"], generator)
            made = {key: (student, table, loss)}
        student, table, loss = made[key]
        if "contrast" in variant:
            table, loss = fit_contrast(table, student, targets, pairs, pools, variant["contrast"], generator)
        rows, scale = quantised(table)
        whole = rows.float() * scale.float()[:, None]
        results[variant["name"]] = scores.of_table(whole, tokenizers[variant["vocabulary"]], variant["vocabulary"], variant["damping"])
        dev, test = results[variant["name"]]["dev"][-1], results[variant["name"]]["test"][-1]
        say(f"{variant['name']:34} loss {loss if loss is None else round(loss, 4)} dev R@5 {dev[2]:.4f} MRR {dev[3]:.4f} nDCG {dev[4]:.4f}"
            f" | test R@5 {test[2]:.4f} MRR {test[3]:.4f} nDCG {test[4]:.4f}")
        chosen = dev[4] > best[0]
        best = max(best, (dev[4], variant["name"]))
        for name in ([variant["name"]] if variant.get("save") else []) + (["best"] if chosen else []):
            vocabulary = sorted(tokenizers[variant["vocabulary"]].get_vocab().items(), key=lambda item: item[1])
            np.savez(options.out / f"{name}.npz", rows=rows.cpu().numpy(), scale=scale.float().cpu().numpy(), name=np.array(variant["name"]),
                     damping=np.float32(variant["damping"]), vocabulary=np.array("\n".join(t for t, _ in vocabulary)))
        (options.out / "results.json").write_text(json.dumps(results))
    say("best by the dev set:", best)


if __name__ == "__main__":
    main()
