"""What the reference tokenizer makes of odd texts: python make_fixture.py FOLDER TABLE.npz tokenizer.fixture.json"""

import json
import random
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from vocabulary import tokenizer_of

TEXTS = [
    "", " ", "Hello, world!", "The quick brown fox jumps over the lazy dog.", "café naïve résumé Ångström ÀÉÎÕÜ", "İstanbul STRASSE straße",
    "ΣΊΣΥΦΟΣ Σίσυφος", "Привет, мир! Ёлка", "東京は日本の首都です。", "中文字符 mixed with English中文", "한국어 문장입니다", "שלום עולם", "مرحبا بالعالم",
    "ภาษาไทย", "नमस्ते दुनिया", "emoji 😀👩‍👩‍👧‍👦 done", "a\u0000b\u0007c\u200bd\ufeffe\ufffdf", "tab\tnew\nline\r\nreturn\u000bvertical\u0085next",
    "no\u00a0break\u3000wide\u2028line", "don't can't it's o'clock rock'n'roll", "e-mail: ada@example.org, https://example.org/a_b?c=d&e=%20f",
    "$5.00 + 10% = ~€5^2 <tag> `code` |pipe|", "snake_case camelCase kebab-case SCREAMING_CASE", "x" * 99, "x" * 100, "x" * 101, "é" * 101, "𝒳" * 60,
    "antidisestablishmentarianism supercalifragilistic", "1234567890 3.14159 2024-05-17T12:34:56Z", "“quotes” ‘single’ – en — em … ellipsis",
    "ﬁ ligature ½ fraction ² superscript Ⅷ roman", "a\u0301\u0316\u0301e\u0308", "[CLS] [SEP] [UNK] [MASK] [PAD] [unused1]", "##ing ##ed", "ǆ Ǆ ß ẞ ŉ",
    "\u1e9b\u0323 \u212b \u2126 \u00c5", "٣٤٥ ۱۲۳ १२३", "C++ C# F# .NET node.js", "\U00020000\U0002a6df\U0002f800 ideographs", "\ue000private\U000f0000use",
]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz     ", "ABCabc123 .,;:!?'\"()[]{}-_/\\@#$%^&*+=<>~`|", "àéîõüñçßøåæœ ÀÉÎÕÜÑÇ aeiou ", "αβγδεζηθΑΒΓΔσςΣ ",
    "абвгдежзАБВГДЕЖЗёЁ ", "日本語中文字東京 ab ", "\t\n\r \u00a0\u2003abc", "\u0300\u0301\u0308\u0327abcdeo ", "😀🎉👍🏽 ok ",
]


def main():
    packed = np.load(sys.argv[2])
    tokens = str(packed["vocabulary"]).split("\n")
    tokenizer = tokenizer_of(Tokenizer.from_file(str(Path(sys.argv[1]) / "tokenizer.json")), tokens)
    generator = random.Random(7)
    words = [t for t in tokens if t.isalpha()]
    texts = list(TEXTS)
    texts += ["".join(generator.choices(a, k=generator.randint(1, 40))) for a in ALPHABETS for _ in range(12)]
    texts += [" ".join(generator.choice((str.lower, str.title, str.upper))(generator.choice(words)) for _ in range(8)) for _ in range(30)]
    texts += ["".join(generator.choices(words, k=2)) for _ in range(40)]
    lines = [json.dumps([text, [tokens[i] for i in tokenizer.encode(text).ids]], ensure_ascii=True) for text in texts]
    Path(sys.argv[3]).write_text("[\n  " + ",\n  ".join(lines) + "\n]\n")
    print(len(texts))


if __name__ == "__main__":
    main()
