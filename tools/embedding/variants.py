"""What is tried, in order of importance: later ones fall out when the time is up."""

CONTRAST = {
    "steps": 1500, "batch": 4096, "rate": 2e-3, "mixed": 0.3, "temperature": 0.05, "teacher_temperature": 0.05,
    "contrast": 1.0, "ranking": 1.0, "anchor": 5.0, "keep": 0.0,
}
FIT = {"epochs": 12, "rate": 3e-3, "batch": 8192}


def variant(name, teacher, vocabulary="extended", damping=0.5, **more):
    return {"name": name, "teacher": teacher, "vocabulary": vocabulary, "damping": damping, **more}


def tried(name, teacher="minilm", vocabulary="extended", damping=0.5, fit=FIT, **changes):
    return variant(name, teacher, vocabulary, damping, **fit, contrast={**CONTRAST, **changes})


VARIANTS = [
    # The one that ships: the best of all by the dev set.
    {**tried("shipped", anchor=0.0), "save": True},
    variant("plain-minilm", "minilm", "reference", 0.0, save=True),
    variant("fit-minilm", "minilm", "reference", 0.0, **FIT, save=True),
    variant("fit-minilm-damped", "minilm", "reference", 0.5, **FIT),
    variant("fit-minilm-extended", "minilm", **FIT),
    tried("contrast"),
    tried("contrast-t03", temperature=0.03, teacher_temperature=0.03),
    tried("contrast-t02", temperature=0.02, teacher_temperature=0.03),
    tried("contrast-no-ranking", ranking=0.0),
    tried("contrast-fast", rate=6e-3),
    tried("contrast-slow", rate=7e-4),
    tried("contrast-large-batch", batch=12288),
    tried("contrast-small-batch", batch=1024),
    tried("contrast-mixed-only", mixed=1.0),
    tried("contrast-one-source-only", mixed=0.0),
    tried("contrast-strong", contrast=4.0),
    tried("contrast-long", steps=5000),
    tried("contrast-reference", vocabulary="reference"),
    tried("contrast-undamped", damping=0.0),
    tried("contrast-short-fit", fit={**FIT, "epochs": 3}),
    variant("plain-bge", "bge", "reference", 0.0),
    variant("fit-bge", "bge", **FIT),
    tried("contrast-bge", "bge"),
    variant("fit-both", "both", **FIT),
    tried("contrast-both", "both"),
    tried("contrast-both-only", "both", ranking=0.0, anchor=0.0),
    tried("contrast-both-ranking", "both", contrast=0.0),
    tried("contrast-both-warm", "both", temperature=0.1),
    tried("contrast-both-long", "both", steps=5000),
    tried("contrast-both-tied", "both", anchor=20.0),
]
