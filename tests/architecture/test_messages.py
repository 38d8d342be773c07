"""Every code is in one catalogue, what is passed is what its sentence shows, and the English is plain."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

import annotation
import labelling_ui
from prm.messages import CATALOGUES, SENTENCES, Sentence

assert annotation
assert labelling_ui  # importing a package registers its catalogues
BANNED = re.compile(
    r"\b(anew|at the moment|go(es)? on|in (his|her|their) hands|kept back|lies at|meanwhile|of before|sign of life|"
    r"stands (at|for|there)|tells|told|whoever)\b",
    re.IGNORECASE,
)  # literal translations, for which the language has a precise word
IN_CATALOGUES = {Path(str(module.__file__)) for module in CATALOGUES}
TREES = {
    path: ast.parse(path.read_text())
    for package in ("prm", "annotation", "labelling_ui")
    for path in sorted((settings.BASE_DIR / package).rglob("*.py"))
    if path not in IN_CATALOGUES
}


def messages() -> Iterator[tuple[str, ast.Call, str]]:
    """Every message that is made by a literal code, with its place."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
                match node.args:
                    case [ast.Constant(value=str(code))]:
                        yield f"{path.relative_to(settings.BASE_DIR)}:{node.lineno}", node, code


def fields(sentence: Sentence) -> list[set[str]]:
    """The names in braces, of each form."""
    forms = [sentence] if isinstance(sentence, str) else list(sentence)
    return [{name for _, name, _, _ in string.Formatter().parse(form) if name is not None} for form in forms]


@pytest.mark.slow
def test_every_code_is_in_a_catalogue_of_its_package_or_below() -> None:
    packages = ["prm", "annotation", "labelling_ui"]
    level = {
        code: packages.index(module.__name__.partition(".")[0]) for module in CATALOGUES for code in module.SENTENCES
    }
    strangers = [
        f"{place} {code}"
        for place, _, code in messages()
        if level.get(code, len(packages)) > packages.index(place.partition("/")[0])
    ]
    assert strangers == []


@pytest.mark.slow
def test_every_sentence_is_used() -> None:
    used = {
        node.value
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert sorted(SENTENCES.keys() - used) == []


@pytest.mark.slow
def test_what_is_passed_is_what_the_sentence_shows() -> None:
    faults = []
    for place, call, code in messages():
        passed = {one.arg for one in call.keywords}
        if code not in SENTENCES or None in passed:
            continue
        wanted = set().union(*fields(SENTENCES[code])) | ({"n"} if isinstance(SENTENCES[code], tuple) else set())
        if passed != wanted:
            faults.append(f"{place} {code}: passes {sorted(map(str, passed))}, shows {sorted(wanted)}")
    assert faults == []


@pytest.mark.parametrize("module", CATALOGUES, ids=lambda module: module.__name__)
def test_a_catalogue_is_sorted_and_says_each_sentence_once(module: object) -> None:
    sentences: dict[str, Sentence] = module.SENTENCES  # type: ignore[attr-defined]
    assert list(sentences) == sorted(sentences)
    assert all(code.isidentifier() and code == code.lower() for code in sentences)
    others = [sentence for one in CATALOGUES if one is not module for sentence in one.SENTENCES.values()]
    assert len(set(sentences.values())) == len(sentences)
    assert [sentence for sentence in sentences.values() if sentence in others] == []


def test_sentences_and_guides_use_no_banned_phrase() -> None:
    texts = {
        code: " ".join([sentence] if isinstance(sentence, str) else sentence) for code, sentence in SENTENCES.items()
    }
    guides = [*settings.BASE_DIR.glob("*.md"), *(settings.BASE_DIR / "docs").rglob("*.md")]
    texts |= {guide.name: " ".join(guide.read_text().split()) for guide in guides}
    assert [f"{name}: {found[0]}" for name, text in texts.items() for found in BANNED.finditer(text)] == []
