"""Build the documentation as a site: the pages of this folder, and those that are generated from the code.

python -m docs.site    write dist/docs/site; a broken link or anchor fails
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from inspect import cleandoc, signature
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.api.reference import Operation, name_type, read_resources, read_schema

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILD = ROOT / "dist" / "docs"
# Options that Django gives every command; the reference leaves them out.
COMMON = {"version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}

PLAIN = str | int | float | tuple | None | type  # defaults that a signature shows


def collect_pages() -> dict[Path, str]:
    """Each Markdown page of the repository that the site has, by its place in the site."""
    sources = {path: path.relative_to(DOCS) for path in DOCS.rglob("*.md")}
    sources |= {path: Path("research") / path.name for path in (ROOT / "research").glob("*.md")}
    sources |= {ROOT / name: Path(name) for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")}
    return {place: move_links(source, sources) for source, place in sources.items()}


def move_links(source: Path, places: dict[Path, Path]) -> str:
    """The text of a page, with its links to other pages as they are between the places in the site."""

    def moved(link: re.Match[str]) -> str:
        target = places.get((source.parent / link[1]).resolve())
        return f"]({os.path.relpath(target, places[source].parent)}{link[2] or ''})" if target else link[0]

    return re.sub(r"\]\(([^)\s#:]+\.md)(#[^)\s]*)?\)", moved, source.read_text())


def generate_pages() -> dict[Path, str]:
    """The pages of the reference that are generated from the code."""
    schema = read_schema()
    reference = Path("reference")
    return {
        reference / "endpoints.md": describe_endpoints(),
        reference / "objects.md": describe_objects(schema["components"]["schemas"]),
        reference / "client.md": describe_client(),
        reference / "library.md": describe_library(),
        reference / "commands.md": describe_commands(),
        reference / "settings.md": describe_settings((ROOT / ".env.example").read_text()),
        reference / "training.md": describe_training(),
    }


def describe_endpoints() -> str:
    """Every endpoint, in groups by resource."""
    head = (
        "# Endpoints\n\nGenerated from the API's OpenAPI description. Paths are below `/api/v1/`, unless they begin "
        "with a slash. [HTTP API](api.md) describes tokens and errors."
    )
    groups = [
        "\n\n".join([f"## {name}", *map(describe_endpoint, resource.operations)])
        for name, resource in read_resources().items()
    ]
    return "\n\n".join([head, *groups]) + "\n"


def describe_endpoint(operation: Operation) -> str:
    """One endpoint: its address, description, query parameters, body, response and example."""
    parts = [f"### `{operation.method} {operation.path.removeprefix('/api/v1/')}`", operation.description]
    if operation.parameters:
        rows = [
            f"| `{one['name']}` | {write_type(one['schema'])} | {one.get('description', '')} |"
            for one in operation.parameters
        ]
        parts.append("\n".join(["| parameter | type | meaning |", "|---|---|---|", *rows]))
    lines = [f"- Scope of a token: `{operation.scope}`"]
    lines += [f"- Body (`{kind}`): {write_type(body)}" for kind, body in operation.bodies.items()]
    lines += [
        f"- Response {status}: {', '.join(map(write_type, bodies))}" for status, bodies in operation.responses.items()
    ]
    parts.append("\n".join(lines))
    parts += [f"```text\n{request}\n```\n\n```json\n{response}\n```" for request, response in operation.examples]
    return "\n\n".join(parts).rstrip()


def describe_objects(schemas: dict[str, Any]) -> str:
    """Every body that a request or a response can have, with its fields."""
    parts = ["# Objects\n\nThe bodies of requests and responses, generated from the API's OpenAPI description."]
    for name, schema in sorted(schemas.items(), key=lambda item: item[0].lower()):
        parts.append(f"## {name}")
        if "description" in schema:
            parts.append(schema["description"])
        if schema.get("properties"):
            parts.append(list_fields(schema))
    return "\n\n".join(parts) + "\n"


def list_fields(schema: dict[str, Any]) -> str:
    """A table of an object's fields."""
    rows = [
        f"| `{field}` | {write_type(one)} | {default_of(one)} | {one.get('description', '')} |"
        for field, one in schema["properties"].items()
    ]
    return "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])


def write_type(schema: Mapping[str, Any]) -> str:
    """The type of a value in a few words, with a link to an object."""
    return name_type(schema, link=lambda name: f"[{name}](objects.md#{name.lower()})", code="`{}`".format)


def default_of(schema: dict[str, Any]) -> str:
    return f"`{json.dumps(schema['default'])}`" if "default" in schema else ""


def describe_commands() -> str:
    """The help of every command: of `stepmark`, of the library, and of administration."""
    from django.core.management import load_command_class

    import launch.__main__
    from prm.__main__ import make_parser

    parts = [
        "# Commands\n\nGenerated from the commands' own help (`--help`).",
        f"## stepmark\n\n```text\n{cleandoc(str(launch.__main__.__doc__))}\n```",
        "## prm\n\nIn a checkout: `.venv/bin/python -m prm`.",
        *describe_parsers(make_parser()),
        "## stepmark manage\n\nIn a checkout: `.venv/bin/python manage.py`. Django's own options are left out.",
    ]
    for path in sorted((ROOT / "annotation" / "management" / "commands").glob("[!_]*.py")):
        parser = load_command_class("annotation", path.stem).create_parser("manage.py", path.stem)
        for action in parser._actions:
            if action.dest in COMMON:
                action.help = argparse.SUPPRESS
        parts += [f"### {path.stem}", show_help(parser)]
    return "\n\n".join(parts) + "\n"


def describe_parsers(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The help of a parser's commands, and of theirs."""
    yield show_help(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield f"### {one.prog.removeprefix('python -m ')}"
                yield from describe_parsers(one)


def show_help(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help().strip()}\n```"


def describe_client() -> str:
    """The package `stepmark`: its names, and the methods of the client."""
    import stepmark

    parts = [
        "# Python client\n\nGenerated from the package `stepmark`. Objects are dictionaries with the fields of "
        "[the API](objects.md). [A judge by program](../guides/ml-engineer.md#a-judge-by-program) is an example."
    ]
    parts += chain.from_iterable(describe_name(name, getattr(stepmark, name)) for name in stepmark.__all__)
    return "\n\n".join(parts) + "\n"


def describe_library() -> str:
    """The package `prm`: the names that it offers, and their methods."""
    import prm

    parts = [
        "# Python library\n\nGenerated from the package `prm`. Every name is imported from it, as in "
        "`from prm import Scorer, train`. [Scoring](scoring.md) and the [guide](../guides/ml-engineer.md#train) have "
        "examples."
    ]
    names = sorted(name for name in prm.__all__ if not name.startswith("_"))
    parts += chain.from_iterable(describe_name(name, getattr(prm, name)) for name in names)
    return "\n\n".join(parts) + "\n"


def describe_name(name: str, one: Any) -> Iterator[str]:
    """A function, or a class with its documented methods and properties."""
    yield f"## {name}"
    made = one if hasattr(one, "__struct_fields__") else vars(one).get("__init__")
    yield from show_signature(name, made if isinstance(one, type) else one)
    yield cleandoc(str(one.__doc__))
    for method, function in vars(one).items() if isinstance(one, type) else ():
        plain = function.__func__ if isinstance(function, classmethod) else function
        if not method.startswith("_") and callable(plain) and plain.__doc__:
            yield f"### {method}"
            yield from show_signature(method, plain)
            yield cleandoc(str(plain.__doc__))


def show_signature(name: str, function: Any) -> list[str]:
    """The parameters of a function, without `self`, the modules of types and long defaults; nothing without one."""
    if function is None:
        return []
    made = signature(function)
    plain = [p if isinstance(p.default, PLAIN) else p.replace(default=...) for p in made.parameters.values()]
    shown = re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", str(made.replace(parameters=plain)))
    shown = re.sub(r"^\((?:self|cls)(?:, )?", "(", shown.replace("Ellipsis", "..."))
    return [f"```python\n{name}{shown}\n```"]


def describe_training() -> str:
    """The fields of a training configuration, with the text that explains them."""
    from msgspec.json import schema

    from prm.config import TrainConfig

    fields = schema(TrainConfig)["$defs"]["TrainConfig"]
    head = "# Training choices\n\nGenerated from `prm.config.TrainConfig` ([guide](../guides/ml-engineer.md#choices))."
    return "\n\n".join([head, cleandoc(str(TrainConfig.__doc__)), list_fields(fields)]) + "\n"


def describe_settings(example: str) -> str:
    """The settings of `.env.example`, each group with the comment above it."""
    groups = re.findall(r"((?:^# .*\n)+)((?:^#?[A-Z_]+=.*\n)+)", example, re.MULTILINE)
    rows = ["| settings | meaning |", "|---|---|"]
    for comment, lines in groups:
        settings = "<br>".join(f"`{line.removeprefix('#')}`" for line in lines.splitlines())
        meaning = " ".join(line.removeprefix("# ") for line in comment.splitlines())
        rows.append(f"| {settings} | " + re.sub(r"docs/(\S+)\.md", r"[this page](../\1.md)", meaning) + " |")
    head = (
        "# Settings\n\nGenerated from `.env.example`. Settings are environment variables, or lines of `.env`. "
        "A value here is the default or an example."
    )
    return head + "\n\n" + "\n".join(rows) + "\n"


def main() -> int:
    """Write the pages and build the site; returns the exit code."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    os.environ["COLUMNS"] = "88"
    django.setup()
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(DOCS / "pictures", BUILD / "pages" / "pictures")
    shutil.copy(DOCS / "zensical.toml", BUILD)
    for place, text in (collect_pages() | generate_pages()).items():
        path = BUILD / "pages" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", BUILD / "zensical.toml"],
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
