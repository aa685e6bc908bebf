"""Retrieval measured alike for every model: notes are cut into chunks, a note scores as its best chunk."""

import json
import re
from pathlib import Path

import numpy as np

CHUNK = 900


def chunks(title, body):
    """Paragraphs joined up to 900 characters; a longer one is cut into windows. The title leads each chunk."""
    parts, current = [], ""
    for paragraph in body.split("\n"):
        for start in range(0, max(1, len(paragraph)), CHUNK - 120):
            piece = paragraph[start : start + CHUNK]
            if current and len(current) + len(piece) + 1 > CHUNK:
                parts.append(current)
                current = ""
            current = f"{current}\n{piece}" if current else piece
            if start + CHUNK >= len(paragraph):
                break
    parts.append(current)
    return [f"{title}\n\n{part}" if title else part for part in parts]


def locomo(folder):
    """One collection per conversation, one note per session; questions of categories 1 to 4 that have evidence."""
    for path in sorted(Path(folder).glob("*.json")):
        data = json.loads(path.read_text())
        documents, questions = [], []
        for number in range(1, 100):
            turns = data.get(f"session_{number}")
            if not turns:
                continue
            lines = [f"{t['speaker']}: {t['text']} {t.get('blip_caption', '')}".strip() for t in turns]
            title = f"{data['speaker_a']} and {data['speaker_b']}, {data[f'session_{number}_date_time']}"
            documents.append({"id": str(number), "title": title, "body": "\n".join(lines)})
        for item in data["qa"]:
            evidence = {m for e in item.get("evidence", []) for m in re.findall(r"D(\d+):", e)}
            if item["category"] in (1, 2, 3, 4) and evidence:
                questions.append({"text": item["question"], "relevant": sorted(evidence)})
        yield {"name": path.stem, "documents": documents, "questions": questions}


def collections(path):
    path = Path(path)
    return list(locomo(path)) if path.is_dir() else json.loads(path.read_text())["collections"]


def prepared(sets):
    """Every text once, and for each collection where its texts lie."""
    texts, layout = [], []
    for collection in sets:
        owners, start = [], len(texts)
        for number, document in enumerate(collection["documents"]):
            parts = chunks(document["title"], document["body"])
            owners += [number] * len(parts)
            texts += parts
        middle = len(texts)
        texts += [question["text"] for question in collection["questions"]]
        numbers = {document["id"]: number for number, document in enumerate(collection["documents"])}
        relevant = [[numbers[i] for i in q["relevant"] if i in numbers] for q in collection["questions"]]
        layout.append((collection["name"], np.array(owners), start, middle, len(texts), relevant))
    return texts, layout


def scored(vectors, layout):
    """Per collection and over all questions: recall@5, MRR, nDCG@10."""
    rows, everything = [], []
    for name, owners, start, middle, end, relevant in layout:
        similarity = vectors[middle:end] @ vectors[start:middle].T
        figures = []
        for row, wanted in enumerate(relevant):
            if not wanted:
                continue
            best = np.full(owners.max() + 1, -2.0)
            np.maximum.at(best, owners, similarity[row])
            order = np.argsort(-best, kind="stable")
            ranks = [int(np.where(order == w)[0][0]) for w in wanted]
            ideal = sum(1 / np.log2(i + 2) for i in range(min(10, len(wanted))))
            figures.append((
                np.mean([r < 5 for r in ranks]),
                1 / (min(ranks) + 1),
                sum(1 / np.log2(r + 2) for r in ranks if r < 10) / ideal,
            ))
        everything += figures
        rows.append((name, len(figures), *np.mean(figures, axis=0)))
    # Collections differ much in size: "all" weighs questions alike, "each" weighs collections alike.
    rows.append(("all", len(everything), *np.mean(everything, axis=0)))
    rows.append(("each", len(rows) - 1, *np.mean([row[2:] for row in rows[:-1]], axis=0)))
    return rows


def table(rows):
    return "\n".join(f"{n:24} {c:5}  R@5 {r:.3f}  MRR {m:.3f}  nDCG@10 {d:.3f}" for n, c, r, m, d in rows)
