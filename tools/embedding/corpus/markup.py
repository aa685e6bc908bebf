"""Readers of marked-up documents: each yields sections (title, heading, text)."""

import html
import re
from html.parser import HTMLParser

SKIPPED = {"script", "style", "nav", "pre", "table", "footer", "header", "svg", "form", "button", "code-block"}
BLOCKS = {"p", "li", "dd", "dt", "blockquote", "para", "div", "section", "item", "note", "td", "sect1", "sect2"}
HEADINGS = {"h1", "h2", "h3", "h4", "title"}
VOID = {"br", "hr", "img", "input", "link", "meta", "col", "area", "base", "source", "wbr"}
SPACES = re.compile(r"\s+")


def squeeze(text):
    return SPACES.sub(" ", text).strip()


class SectionReader(HTMLParser):
    """HTML, DocBook and Mallard alike: headings open sections, blocks become paragraphs."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.heading = ""
        self.paragraphs = []
        self.sections = []
        self.buffer = []
        self.skipping = 0
        self.in_heading = False

    def end_block(self):
        text = squeeze("".join(self.buffer))
        self.buffer = []
        if not text:
            return
        if self.in_heading:
            if not self.title:
                self.title = text
            self.end_section()
            self.heading = text
        else:
            self.paragraphs.append(text)

    def end_section(self):
        if self.paragraphs:
            self.sections.append((self.title, self.heading, "\n".join(self.paragraphs)))
        self.paragraphs = []

    def handle_starttag(self, tag, attributes):
        if tag in SKIPPED:
            if not self.skipping:
                self.end_block()
            self.skipping += 1
        elif not self.skipping and tag in HEADINGS:
            self.end_block()
            self.in_heading = True
        elif not self.skipping and tag in BLOCKS and not self.in_heading:
            self.end_block()
        elif tag == "br":
            self.buffer.append(" ")

    def handle_endtag(self, tag):
        if tag in SKIPPED:
            self.skipping = max(0, self.skipping - 1)
        elif not self.skipping and tag in HEADINGS:
            self.end_block()
            self.in_heading = False
        elif not self.skipping and tag in BLOCKS and not self.in_heading:
            self.end_block()

    def handle_data(self, data):
        if not self.skipping:
            self.buffer.append(data)

    def finish(self):
        self.end_block()
        self.end_section()
        return self.sections


def markup_sections(text):
    reader = SectionReader()
    try:
        reader.feed(text)
        reader.close()
    except (AssertionError, ValueError):
        pass
    return reader.finish()


RST_RULE = re.compile(r"^([=\-~^\"'#*+.])\1{2,}\s*$")
RST_ROLE = re.compile(r":[a-z:]+:`([^`<]+)(?: <[^`]*>)?`|``?([^`]+?)(?: <[^`]*>)?``?_{0,2}")


def rst_sections(text):
    """reStructuredText and Markdown, without their code blocks."""
    title = heading = ""
    paragraphs, block, sections, fenced = [], [], [], False

    def end_block():
        if block:
            joined = squeeze(RST_ROLE.sub(lambda m: m.group(1) or m.group(2), " ".join(block)))
            if joined:
                paragraphs.append(joined)
        block.clear()

    def open_section(name):
        nonlocal title, heading, paragraphs
        end_block()
        if paragraphs:
            sections.append((title, heading, "\n".join(paragraphs)))
        paragraphs = []
        heading = squeeze(name.replace("`", ""))
        title = title or heading

    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
            end_block()
        elif fenced or line.startswith((".. ", "    ", "\t", "|", "<", "![", "[![", "[")):
            end_block() if not line.strip() or line.startswith("..") else None
        elif RST_RULE.match(line) and not line.startswith("#"):
            if block and lines[number - 1].strip() and len(line.strip()) >= len(lines[number - 1].strip()) - 1:
                name = block.pop()
                open_section(name)
        elif line.startswith("#"):
            open_section(line.strip("# "))
        elif not line.strip():
            end_block()
        else:
            block.append(line.strip())
    open_section("")
    return sections


POD_CODE = re.compile(r"[A-Z]<+ ?([^<>]*?) ?>+")


def pod_sections(text):
    title = heading = ""
    paragraphs, sections, reading = [], [], False
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("="):
            command, _, rest = block[1:].partition(" ")
            reading = command not in ("cut", "begin", "for")
            if command.startswith("head") or command == "item":
                if paragraphs:
                    sections.append((title, heading, "\n".join(paragraphs)))
                paragraphs = []
                heading = squeeze(POD_CODE.sub(r"\1", rest))
        elif reading and not block.startswith((" ", "\t")):
            plain = squeeze(html.unescape(POD_CODE.sub(r"\1", POD_CODE.sub(r"\1", block)).replace("E<gt>", ">")))
            if heading == "NAME":
                title = plain
            paragraphs.append(plain)
    if paragraphs:
        sections.append((title, heading, "\n".join(paragraphs)))
    return sections


ROFF_ESCAPE = re.compile(r"\\f(?:\(..|\[[^\]]*\]|.)|\\[&/,|^c]|\\s[-+]?\d|\\m\[[^\]]*\]")
ROFF_NAMED = {r"\(aq": "'", r"\(bu": "", r"\(lq": '"', r"\(rq": '"', r"\(em": " - ", r"\-": "-", r"\e": "\\", r"\ ": " "}
ROFF_FONT = {"B", "I", "BR", "RB", "IR", "RI", "BI", "IB", "SM", "Nm", "Fl", "Ar", "Pa", "Xr", "Fn", "Va", "Em", "Dv", "Ev"}


def roff_sections(text):
    """Manual pages: enough of man(7) and mdoc(7) to read the prose."""
    title = heading = ""
    paragraphs, block, sections, literal = [], [], [], False

    def end_block():
        joined = squeeze(" ".join(block))
        if joined:
            paragraphs.append(joined)
        block.clear()

    for line in text.splitlines():
        line = ROFF_ESCAPE.sub("", line)
        for escape, plain in ROFF_NAMED.items():
            line = line.replace(escape, plain)
        if not line.startswith((".", "'")):
            if not literal:
                block.append(line)
            continue
        macro, _, rest = line[1:].strip().partition(" ")
        rest = rest.replace('"', "")
        if macro in ("SH", "SS", "Sh", "Ss"):
            end_block()
            if paragraphs and heading not in ("SYNOPSIS", "SEE ALSO", "COPYRIGHT", "AUTHOR", "AUTHORS"):
                sections.append((title, heading, "\n".join(paragraphs)))
            paragraphs = []
            heading = rest
        elif macro in ("nf", "EX", "Bd"):
            literal = True
        elif macro in ("fi", "EE", "Ed"):
            literal = False
        elif macro in ("PP", "P", "LP", "TP", "IP", "Pp", "It", "sp", "HP"):
            end_block()
        elif macro in ROFF_FONT:
            block.append(rest)
        if heading == "NAME" and block and not title:
            title = ""
        if heading == "NAME" and block:
            title = squeeze(" ".join(block))
    end_block()
    if paragraphs and heading != "SEE ALSO":
        sections.append((title, heading, "\n".join(paragraphs)))
    return sections
