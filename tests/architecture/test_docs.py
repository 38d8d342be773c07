"""The documentation: short sentences, links to files that exist, and commands that the programs know."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import prm
import stepmark
from annotation.core.webhooks.events import EVENTS, TEST
from config.env import BASE_DIR
from docs import site
from prm.config import TrainConfig
from prm.formats.trace_files import read_traces

DOCS = BASE_DIR / "docs"
MOST_WORDS = 25
ENDS = re.compile(r"(?<!\bal)(?<!\beq)(?<!\be\.g)(?<!\bi\.e)[.!?][)*_]*\s+")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page, without code, tables, headings and addresses of links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#|\||!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", "\n" + text):
        yield from (sentence for sentence in ENDS.split(" ".join(block.split()) + " ") if sentence)


def count_words(sentence: str) -> int:
    return len(re.findall(r"\S*\w\S*", sentence))


@pytest.mark.parametrize(
    "path", [*DOCS.rglob("*.md"), *BASE_DIR.glob("*.md")], ids=lambda path: str(path.relative_to(BASE_DIR))
)
def test_no_sentence_is_longer_than_25_words(path) -> None:
    long = [sentence for sentence in sentences(path.read_text()) if count_words(sentence) > MOST_WORDS]
    assert long == []


# Pages that only the built site has.
GENERATED = {"client.md", "library.md", "endpoints.md", "objects.md", "commands.md", "settings.md", "training.md"}


def test_every_link_between_files_names_one() -> None:
    """The site's own check knows pages and their anchors only, and not the files of the repository."""
    pages = [*DOCS.rglob("*.md"), *BASE_DIR.glob("*.md"), *(BASE_DIR / "research").glob("*.md")]
    broken = [
        f"{page.relative_to(BASE_DIR)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)", page.read_text())
        if not (page.parent / link).exists() and Path(link).name not in GENERATED
    ]
    assert broken == []


def test_the_site_lists_every_page() -> None:
    def listed(entries) -> Iterator[str]:
        for entry in entries:
            for pages in entry.values():
                yield from [pages] if isinstance(pages, str) else listed(pages)

    navigation = tomllib.loads((DOCS / "zensical.toml").read_text())["project"]["nav"]
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if path.parent.name != "adr"}
    assert set(listed(navigation)) == pages | {f"reference/{name}" for name in GENERATED} | {"adr/README.md"}


def test_the_first_file_can_be_imported(tmp_path) -> None:
    [text] = re.findall(r"^```json\n(.*?)^```", (DOCS / "start.md").read_text(), re.MULTILINE | re.DOTALL)
    path = tmp_path / "mine.jsonl"
    path.write_text(text)
    assert [len(trace.steps) for trace in read_traces(path)] == [3, 3]


def test_the_reference_has_every_setting() -> None:
    example = (BASE_DIR / ".env.example").read_text()
    settings = re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)
    assert re.findall(r"`([A-Z_]+)=", site.describe_settings(example)) == settings


@pytest.mark.slow
def test_the_reference_has_every_endpoint_and_object() -> None:
    schema = site.read_schema()
    endpoints = site.describe_endpoints()
    assert endpoints.count("\n### `") == sum(len(operations) for operations in schema["paths"].values())
    objects = site.describe_objects(schema["components"]["schemas"])
    named = set(re.findall(r"objects\.md#(\w+)", endpoints + objects))
    assert named <= {name.lower() for name in re.findall(r"^## (\w+)$", objects, re.MULTILINE)}


def test_the_reference_has_every_command() -> None:
    commands = site.describe_commands()
    assert all(f"### {name}\n" in commands for name in ("prm train", "prm probe best-of-n", "import_solutions"))
    assert "--no-color" not in commands


def test_the_reference_has_every_method_of_the_client() -> None:
    methods = {name for name in vars(stepmark.Client) if not name.startswith("_")}
    page = site.describe_client()
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == methods
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == set(stepmark.__all__)


@pytest.mark.slow
def test_the_reference_has_every_name_of_the_library() -> None:
    page = site.describe_library()
    names = {name for name in prm.__all__ if not name.startswith("_")}
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == names
    assert {"score", "load", "session"} <= set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
    undocumented = [name for name in names if not getattr(prm, name).__doc__]
    assert undocumented == []


def test_the_reference_has_every_event() -> None:
    table = (DOCS / "reference" / "webhooks.md").read_text().split("\n## ")[1]
    assert re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", table.split("\n\n")[1]) == [*EVENTS, TEST]


def test_the_reference_has_every_training_choice() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \S", site.describe_training(), re.MULTILINE)
    assert rows == list(TrainConfig.__struct_fields__)


def is_defined(name: str) -> bool:
    """Whether a dotted name of the library is a module, or a word of the module that it begins with."""
    path, rest = BASE_DIR, name.split(".")
    while rest and (path / rest[0]).is_dir():
        path /= rest.pop(0)
    module = path / f"{rest[0]}.py" if rest and (path / f"{rest[0]}.py").exists() else path / "__init__.py"
    words = rest[1:2] if module.name != "__init__.py" else rest[:1]
    return all(re.search(rf"\b{word}\b", module.read_text()) for word in words)


def test_the_names_of_the_library_exist() -> None:
    pages = [*DOCS.rglob("*.md"), *BASE_DIR.glob("*.md")]
    named = {name for page in pages for name in re.findall(r"`(prm(?:\.\w+)+)", page.read_text())}
    assert len(named) > 20
    assert [name for name in sorted(named) if not is_defined(name)] == []
