"""The student's vocabulary: the teacher's, without its unused slots, and whole words that the teacher splits."""

import json
import multiprocessing
import re
from collections import Counter

EXTRA = 13_500
WORD = re.compile(r"[a-z]{4,18}")


def words_of(texts):
    counts = Counter()
    for text in texts:
        counts.update(set(WORD.findall(text.lower())))
    return counts


def extra_words(folder, tokenizer, texts, workers):
    """The commonest words of the corpus, and then first names, that the reference tokenizer splits."""
    counts = Counter()
    with multiprocessing.Pool(workers) as pool:
        for part in pool.imap(words_of, (texts[s : s + 20_000] for s in range(0, len(texts), 20_000))):
            counts.update(part)
    names = {name.lower() for name in json.loads((folder / "names.json").read_text())}
    known = tokenizer.get_vocab()
    # A name in the list is worth as much as forty occurrences: notes are about people.
    ranked = sorted(((c + (40 if w in names else 0), w) for w, c in counts.items() if w not in known), reverse=True)
    chosen = [w for c, w in ranked if c >= 12][:EXTRA]
    return sorted(chosen)


def extended_tokenizer(tokenizer, words):
    """The tokenizer with the unused slots removed and the words added; ids are renumbered."""
    known = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda item: item[1])
    return tokenizer_of(tokenizer, [*(t for t, _ in known if not t.startswith("[unused")), *words])


def tokenizer_of(tokenizer, tokens):
    """The same tokenizer over another vocabulary."""
    description = json.loads(tokenizer.to_str())
    description["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    description["added_tokens"] = []
    description["post_processor"] = None
    description["truncation"] = description["padding"] = None
    return type(tokenizer).from_str(json.dumps(description))
