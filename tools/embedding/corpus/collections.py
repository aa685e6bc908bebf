"""Readers of collections that are not documents: dictionaries, dialogues, mail, novels, descriptions."""

import gzip
import json
import re
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

from .markup import squeeze


def wordnet_entries(folder):
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(folder / f"data.{part}", encoding="latin-1"):
            if line.startswith("  ") or "|" not in line:
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(count)]
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = squeeze(re.sub(r'"[^"]*"', "", gloss)).strip("; ")
            yield ", ".join(words), definition
            for example in examples:
                yield "", example


def dict_entries(path):
    """A dictd database: an entry opens at the margin, its text is indented or follows."""
    text = gzip.open(path, "rt", encoding="utf-8", errors="replace").read()
    for entry in re.split(r"\n(?=\S)", text):
        head, _, body = entry.partition("\n")
        head = squeeze(re.sub(r"\\.*|\[.*?\]|[{}]", "", head))
        body = squeeze(re.sub(r"\[[^\]]{0,40}\]|[{}]", "", body))
        if head and body and len(head) < 60 and not head.startswith("00-"):
            yield head, body


def fortunes(folder):
    for path in sorted(folder.rglob("games/fortunes/*")):
        if path.suffix or path.is_symlink() or path.is_dir():
            continue
        for quote in re.split(r"\n%\n", path.read_text("utf-8", "replace")):
            yield "", squeeze(quote)


def translated_strings(path):
    """The English side of a gettext catalogue."""
    data = path.read_bytes()
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    count, table = struct.unpack(order + "2I", data[8:16])
    for index in range(count):
        length, offset = struct.unpack(order + "2I", data[table + 8 * index : table + 8 * index + 8])
        text = data[offset : offset + length].decode("utf-8", "replace").split("\0")[0].split("\4")[-1]
        text = squeeze(re.sub(r"<[^>]*>|[&_](?=[A-Z])", " ", text.replace("\\n", " ").split("^")[-1]))
        if text.count(" ") >= 2:
            yield "", text


def r_strings(path):
    """The character vectors of an R lazy-load database: zlib blocks of XDR strings."""
    data = path.read_bytes()
    position = 0
    while True:
        position = data.find(b"\x78\x9c", position)
        if position < 0:
            return
        try:
            block = zlib.decompressobj().decompress(data[position:])
        except zlib.error:
            position += 2
            continue
        lines, at = [], 0
        while True:
            at = block.find(b"\x00\x04\x00\x09", at)
            if at < 0 or at + 8 > len(block):
                break
            (length,) = struct.unpack(">i", block[at + 4 : at + 8])
            if 0 <= length < 2000:
                lines.append(block[at + 8 : at + 8 + length].decode("utf-8", "replace"))
                at += 8 + length
            else:
                at += 4
        yield "\n".join(lines)
        position += 2


def prose_paragraphs(text):
    for paragraph in re.split(r"\n\s*\n", text):
        plain = squeeze(paragraph.replace("_", ""))
        if len(plain) > 20:
            yield plain


def dialogues_aiml(archive):
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            if not name.endswith(".aiml"):
                continue
            text = files.read(name).decode("utf-8", "replace")
            for pattern, template in re.findall(
                r"<pattern>([^<]*)</pattern>(?:\s*<that>[^<]*</that>)?\s*<template>(.*?)</template>", text, re.S
            ):
                answers = re.findall(r"<li>([^<]+)</li>", template) or [re.sub(r"<[^>]*>", " ", template)]
                question = squeeze(pattern.replace("*", "").replace("_", "")).lower()
                for answer in answers[:3]:
                    answer = squeeze(answer)
                    if question.count(" ") >= 1 and answer.count(" ") >= 2:
                        yield question, answer


def dialogues_yaml(archive):
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            if "/english/" not in name or not name.endswith(".yml"):
                continue
            question = ""
            for line in files.read(name).decode("utf-8", "replace").splitlines():
                match = re.match(r"^(- - |  - )(.*)$", line)
                if not match:
                    continue
                text = squeeze(match.group(2).strip("'\""))
                if match.group(1) == "- - ":
                    question = text
                elif question and text:
                    yield question, text


def opinions_vader(archive):
    with zipfile.ZipFile(archive) as files:
        inner = next(name for name in files.namelist() if name.endswith(".tar.gz"))
        with files.open(inner) as packed, tarfile.open(fileobj=packed, mode="r:gz") as members:
            for member in members:
                if re.search(r"(snippets|tweets)\w*\.txt$", member.name, re.I) and "anonDataRatings" not in member.name:
                    for line in members.extractfile(member).read().decode("utf-8", "replace").splitlines():
                        text = squeeze(line.split("\t")[-1])
                        if len(text) > 20:
                            yield "", text


def mail(archive):
    """Subject and body of the legitimate messages."""
    with tarfile.open(archive) as members:
        for member in members:
            if "-ham-" not in member.name or not member.name.endswith(".json"):
                continue
            document = json.load(members.extractfile(member))
            raw = document.get("text", "") if isinstance(document, dict) else ""
            head, _, body = raw.partition("\n\n")
            subject = re.search(r"^Subject: (.*)$", head, re.M)
            subject = re.sub(r"^((re|fwd?)\s*:|\[[^\]]*\])\s*", "", squeeze(subject.group(1)) if subject else "", flags=re.I)
            subject = re.sub(r"^((re|fwd?)\s*:|\[[^\]]*\])\s*", "", subject, flags=re.I)
            if re.search(r"Content-Transfer-Encoding: base64|multipart|text/html", head, re.I):
                continue
            kept = []
            for line in body.splitlines():
                if re.match(r"^(-- ?$|_{5,}|-{5,})", line):
                    break
                if not re.match(r"^\s*([>|:]|[\w ]{0,4}>)|.*(wrote|writes):\s*$|^On .*,", line):
                    kept.append(line)
            yield subject, "\n".join(prose_paragraphs("\n".join(kept)))


def archive_texts(archive, pattern):
    with tarfile.open(archive) as members:
        for member in members:
            if re.search(pattern, member.name):
                yield member.name, members.extractfile(member).read().decode("utf-8", "replace")


def package_descriptions(lists=Path("/var/lib/apt/lists")):
    for path in sorted(lists.glob("*_Translation-en*")):
        for entry in path.read_text("utf-8", "replace").split("\n\n"):
            match = re.search(r"^Description-en: (.*)\n((?: .*\n?)*)", entry, re.M)
            if match:
                body = match.group(2).replace("\n .\n", "\n\n")
                yield match.group(1), "\n".join(prose_paragraphs(body))
