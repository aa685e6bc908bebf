"""Reads every source into corpus.jsonl.xz (training) and dev.json, test.json (retrieval: heading to section).

    python build_corpus.py FOLDER        FOLDER holds what get_sources.sh downloaded
"""

import json
import lzma
import random
import re
import sys
import zlib
from pathlib import Path

from corpus.collections import archive_texts
from corpus.sources import COLLECTION_LIMIT, COLLECTIONS, DOCUMENT_LIMIT, DOCUMENTS, documents

SEED = 20260101
LETTERS = re.compile(r"[A-Za-z]")
NUMBERING = re.compile(r"^([A-Z]?[\dIVX]*\.)*[\dA-Z]*[.:)]\s+|^(\d+\.)+\d*\s+|^(Chapter|Appendix|Section)\s+[\dA-Z.]+\s*")
DULL = re.compile(r"^(name|synopsis|description|see also|options|authors?|copyright|overview|introduction|notes?|examples?|"
                  r"parameters|returns?|bugs|index|contents|table of contents|summary|compatibility|errors?|history|files)$", re.I)


def english(text):
    """Mostly Latin letters and some of the commonest words: code, tables and other languages fall out."""
    if len(LETTERS.findall(text)) < 0.6 * len(text):
        return False
    if re.match(r"Contents\b|Index\b|:Original:", text):
        return False
    return len(text) < 120 or bool(re.search(r"\b(the|a|of|to|is|in|and|for|it|you|I|that)\b", text))


def clean(record):
    title, heading, text = record
    heading = NUMBERING.sub("", heading.replace("¶", "").replace("\u200b", "")).strip()
    title = title.replace("¶", "").strip()
    text = "\n".join(p.replace("¶", "") for p in text.split("\n") if english(p))
    return title[:120], heading[:160], text


def pieces(text, at_most=4000):
    """A text without an end is cut at sentences."""
    while len(text) > at_most:
        cut = text.rfind(". ", 0, at_most) + 1 or at_most
        yield text[:cut]
        text = text[cut:].lstrip()
    yield text


def sections(entries, limit, generator):
    kept, seen = [], set()
    for record in entries:
        title, heading, text = clean(record)
        key = zlib.crc32((heading + text[:400]).encode())
        if len(text) >= 12 and key not in seen:
            seen.add(key)
            kept.extend([title, heading, piece] for piece in pieces(text))
    generator.shuffle(kept)
    size = 0
    for position, record in enumerate(kept):
        size += len(record[2])
        if size > limit:
            return kept[:position]
    return kept


def retrieval_set(name, records, generator, at_most):
    """Heading as the question; right are its section, or the few pieces of it."""
    documents_, owners = [], {}
    for _, heading, text in records:
        if len(text) >= 150 and len(documents_) < at_most:
            identifier = f"{name}/{len(documents_)}"
            documents_.append({"id": identifier, "title": "", "body": text[:2500]})
            owners.setdefault(heading.lower(), (heading, []))[1].append(identifier)
    questions = [
        {"text": heading, "relevant": relevant}
        for heading, relevant in owners.values()
        if len(relevant) <= 4 and not DULL.match(heading) and (2 if name != "foldoc" else 1) <= len(heading.split()) <= 20
    ]
    generator.shuffle(questions)
    return {"name": name, "documents": documents_, "questions": questions[:400]}


def main():
    folder = Path(sys.argv[1])
    generator = random.Random(SEED)
    (folder / "sections").mkdir(exist_ok=True)
    sets = {"dev": [], "test": []}
    figures = []
    sources = [(n, lambda n=n, p=p, r=r: documents(folder, n, p, r), DOCUMENT_LIMIT, lic, s) for n, p, r, lic, s in DOCUMENTS]
    sources += [(n, lambda r=r: r(folder), COLLECTION_LIMIT, lic, s) for n, r, lic, s in COLLECTIONS]
    with lzma.open(folder / "corpus.jsonl.xz", "wt", encoding="utf-8", preset=4) as out:
        for name, entries, limit, licence, split in sources:
            kept = folder / "sections" / f"{name}.json"
            if not kept.exists():
                kept.write_text(json.dumps(sections(entries(), limit, random.Random(SEED)), ensure_ascii=False))
            records = json.loads(kept.read_text())
            size = sum(len(r[2]) for r in records)
            figures.append((name, split, licence, len(records), size))
            print(f"{name:24} {split:6} {len(records):8} sections {size / 1e6:7.2f} MB", flush=True)
            if split == "train":
                for record in records:
                    out.write(json.dumps([name, *record], ensure_ascii=False) + "\n")
            else:
                sets[split].append(retrieval_set(name, records, generator, 3000))
    for split, members in sets.items():
        (folder / f"{split}.json").write_text(json.dumps({"collections": members}, ensure_ascii=False))
    names = [n for path in sorted((folder / "npm").glob("*first-names-en-*.tgz")) for _, text in archive_texts(path, r"data/names.json$")
             for n in json.loads(text)]
    (folder / "names.json").write_text(json.dumps(sorted({name.capitalize() for name in names if name.isalpha()})))
    (folder / "sources.json").write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
