"""Training texts and pairs from the corpus: what a note, a chunk of it and a question about it look like."""

import json
import lzma
import random
import re

from retrieval import chunks

SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'(])")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+")
COMMON = frozenset(
    "a an the of to in on at by for from with as is are was were be been being am do does did have has had will would can "
    "could should may might must shall i you he she it we they me him her us them my your his its our their this that "
    "these those and or but if so than then there here not no nor very just also only too up out off over into about".split()
)
ASKING = (
    "what what what when when where who why how how what|did when|did where|did how|did why|did what|does what|is who|is "
    "where|is how|do what|kind|of how|many how|long which|one what|are when|was what|was has does is did".split()
)
THIRD = {"i": None, "my": "{}'s", "me": None, "i'm": "{} is", "i've": "{} has", "myself": None, "mine": "{}'s"}


def sentences(text):
    return [s for p in text.split("\n") for s in SENTENCE.split(p) if 15 <= len(s) <= 400]


def base_form(word):
    """A crude present tense or singular, so that a question does not always repeat the very form."""
    for ending, plain in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word[: -len(ending)] + plain
    return word


def question_about(sentence, speaker, generator):
    """A question that the sentence may answer: some of its content words behind a question word, the rest left open."""
    words = WORD.findall(sentence)
    content = [w for w in words if w.lower() not in COMMON and len(w) > 2]
    if len(content) < 3:
        return None
    hidden = generator.randrange(len(words))
    width = generator.randint(1, max(1, len(words) // 3))
    keep_common = generator.choice((0.1, 0.5, 0.9))
    kept = []
    for position, word in enumerate(words):
        if hidden <= position < hidden + width:
            continue
        lower = word.lower()
        if lower in THIRD and speaker:
            kept.append((THIRD[lower] or "{}").format(speaker))
        elif lower in COMMON:
            if generator.random() < keep_common:
                kept.append(word)
        elif generator.random() < 0.85:
            kept.append(base_form(word) if generator.random() < 0.3 else word)
    if len(kept) < 2 or all(w.lower() in COMMON for w in kept):
        return None
    if speaker and speaker not in " ".join(kept):
        kept.insert(0, speaker)
    if generator.random() < 0.25:
        return " ".join(kept[:8])
    return " ".join([*generator.choice(ASKING).split("|"), *kept[:14]]).lower().capitalize() + "?"


def said(text, speakers, generator):
    """The text as turns of a conversation."""
    lines = sentences(text)
    turns = []
    while lines:
        count = generator.randint(1, 3)
        turns.append(f"{speakers[len(turns) % 2]}: {' '.join(lines[:count])}")
        lines = lines[count:]
    return "\n".join(turns)


def texts_and_pairs(numbered):
    """From one record: texts for the regression, (question, passage) pairs for the contrast."""
    number, (source, title, heading, text), names = numbered
    generator = random.Random(number)
    texts, pairs = [], []
    head = " ".join(part for part in dict.fromkeys((title, heading)) if part)
    if heading:
        texts.append(heading)
    if title and title != heading and generator.random() < 0.3:
        texts.append(head)
    parts = chunks("", text)
    for part in parts:
        if heading and generator.random() < 0.5:
            texts.append(f"{head}\n\n{part}")
        else:
            texts.append(part)
        if heading and generator.random() < 0.7:
            pairs.append((heading if generator.random() < 0.6 else head, part))
        lines = sentences(part)
        if not lines:
            continue
        for _ in range(1 + len(part) // 300):
            start = generator.randrange(len(lines))
            texts.append(" ".join(lines[start : start + generator.choice((1, 1, 2, 3))]))
        for _ in range(1 + len(part) // 450):
            line = generator.choice(lines)
            passage, speaker = part, ""
            if generator.random() < 0.35:
                speakers = generator.sample(names, 2)
                passage = said(part, speakers, generator)
                owner = [s for s in speakers if any(t.startswith(s + ":") and line in t for t in passage.split("\n"))]
                speaker = owner[0] if owner else speakers[0]
            question = question_about(line, speaker, generator)
            # Half of the passages lose the very sentence, where others remain: the topic must do.
            if question and len(lines) > 2 and generator.random() < 0.35:
                passage = passage.replace(line, "").strip()
            if question and passage:
                pairs.append((question, passage))
                texts.append(question)
                if speaker:
                    texts.append(passage)
    return source, texts, pairs


def records(path, at_most=None):
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if at_most and number >= at_most:
                return
            yield json.loads(line)
