"""A project is started in one go, or not at all."""

import io
import json
from pathlib import Path

import msgspec
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import translation

from annotation.core.errors import DomainError, Forbidden
from annotation.core.project_templates import TEMPLATES, guidelines_of
from annotation.files.examples import EXAMPLES
from annotation.files.import_jobs import Manner
from annotation.files.import_preview import preview_import
from annotation.loop import project_start
from annotation.loop.project_start import FirstFile, start_project, suggest_template
from annotation.models import AuditEntry, ImportJob, Project, parse_scheme
from prm.formats.detection import detect
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from prm.formats.registry import FORMATS
from tests.real_data import real_data

TEXT = b"What is 2 + 2?\n\nWe add.\n\nIt is 4."


def first_file(content: bytes, name: str = "own.txt", **options: str) -> FirstFile:
    return FirstFile(name, [content], Manner(**{"decomposition": "automatic", **options}))


def start(by: User, **fields):
    return start_project(**{"by": by, "name": "Own runs", "scheme": {}, "guidelines": "", **fields})


@pytest.mark.parametrize("n", range(6))
def test_even_a_single_solution_is_ready_to_be_labelled(manager, n):
    """Whichever split its problem is in."""
    begun = start(manager, file=first_file(TEXT + b" " * n + b"x" * n))
    assert begun.job is not None
    assert (begun.job.state, begun.job.accepted) == ("done", 1)
    [generation] = begun.project.generations.all()
    assert generation.items.count() == 1


def test_people_are_invited_and_new_accounts_have_passwords(manager):
    User.objects.create_user("known")
    begun = start(manager, people=["known", "new@example.org"], file=first_file(TEXT))
    assert list(begun.passwords) == ["new@example.org"]
    roles = dict(begun.project.memberships.values_list("user__username", "role"))
    assert roles == {"manager": "manager", "known": "annotator", "new@example.org": "annotator"}


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"people": ["ana", "no one!"], "file": first_file(TEXT)}, "people", "user name"),
        ({"people": ["manager"], "file": first_file(TEXT)}, "people", "already"),
        ({"file": first_file(b"%PDF-1.4\n\0", "report.pdf")}, "file", "Stepmark cannot read report.pdf."),
        ({"file": first_file(b"only a problem\nof two lines")}, "file", "Nothing in own.txt can be imported. Record 1"),
        ({"file": first_file(b"\n\n---\n---\n")}, "file", "own.txt has no records."),
        ({"file": first_file(TEXT, decomposition="unknown")}, "file", "unknown"),
        ({"name": " ", "file": first_file(TEXT)}, "name", "name"),
        ({"scheme": {"odd": 1}, "file": first_file(TEXT)}, "scheme", "odd"),
    ],
)
def test_a_failure_leaves_nothing_and_names_the_field(manager, settings, fields, field, sentence):
    audited = AuditEntry.objects.count()
    with pytest.raises(DomainError, match=sentence) as refused:
        start(manager, **fields)
    assert refused.value.extra["field"] == field
    assert not Project.objects.exists()
    assert list(User.objects.values_list("username", flat=True)) == ["manager"]
    assert AuditEntry.objects.count() == audited
    assert not [path for path in Path(settings.STATE_ROOT / "uploads").glob("*") if path.is_file()]


def test_a_large_file_is_checked_and_left_to_a_worker(manager, monkeypatch):
    monkeypatch.setattr(project_start, "AT_ONCE", 10)
    begun = start(manager, file=first_file(TEXT))
    assert begun.job is not None
    assert begun.job.live
    assert not begun.project.generations.exists()
    with pytest.raises(DomainError, match="cannot read"):
        start(manager, file=first_file(b"\0" * 100, "report.pdf"))
    assert (Project.objects.count(), ImportJob.objects.count()) == (1, 1)


def test_names_that_are_alike_get_addresses_of_their_own(manager):
    addresses = [
        start(manager, name=name).project.slug
        for name in ("Own runs", "own  runs!", "Собственные", "…", f"{'a' * 69} run")
    ]
    assert addresses == ["own-runs", "own-runs-2", "project", "project-2", "a" * 69]


def test_only_those_who_may_create_projects_start_one(db):
    with pytest.raises(Forbidden):
        start(User.objects.create_user("ana"))


def test_every_template_has_a_valid_scheme_and_guidelines_in_every_language():
    for language, _name in settings.LANGUAGES:
        written = {name: guidelines_of(name, language) for name in TEMPLATES}
        assert len(set(written.values())) == len(TEMPLATES)
        for name in TEMPLATES:
            assert language == "en" or written[name] != guidelines_of(name, "en")
    for template in TEMPLATES.values():
        parse_scheme(template.scheme)
        with translation.override("de"):
            assert template.guidelines == guidelines_of(template.name, "de")
    assert guidelines_of("first_error", "../en") == guidelines_of("first_error", "en")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_imported_whole_and_labelled_with_its_template(manager, name):
    example = EXAMPLES[name]
    content = example.path.read_bytes()
    begun = start(
        manager, scheme=TEMPLATES[example.template].scheme, file=first_file(content, example.path.name, format="auto")
    )
    assert begun.job is not None
    assert (begun.job.accepted, begun.job.rejected) == (len(content.splitlines()), 0)
    assert begun.project.generations.get().items.count() == begun.job.accepted
    assert min(solution.steps.values("position").distinct().count() for solution in begun.project.solutions.all()) > 1


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("word_problems", "first_error"),
        ("candidate_steps", "prm800k_phase_1"),
        ("agent_runs", "agent_run"),
        ("code_changes", "code_change"),
    ],
)
def test_the_kinds_of_steps_suggest_the_template(name, template):
    assert suggest_template(records_of(EXAMPLES[name].path.read_bytes())) == template


def records_of(content: bytes) -> list[Record]:
    format = detect(io.BytesIO(content), "file.jsonl")
    return [one for _line, one in FORMATS.get(format).read(io.BytesIO(content)) if isinstance(one, Record)]


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("prm800k/prm800k_real_records.jsonl", "prm800k_phase_1"),
        ("processbench/gsm8k.json", "first_error"),
        ("agentprocessbench/hotpotqa.jsonl", "agent_run"),
    ],
)
def test_real_files_suggest_their_template(name, template):
    assert suggest_template(records_of(real_data(name).read_bytes())[:3]) == template


@pytest.mark.parametrize("name", ["prm800k/prm800k_real_records.jsonl", "processbench/gsm8k.json"])
def test_real_files_start_a_project(manager, name):
    path = real_data(name)
    begun = start(manager, file=first_file(path.read_bytes(), path.name))
    assert begun.job is not None
    assert begun.job.accepted > 5
    assert begun.project.generations.get().items.exists()


def test_an_export_as_records_starts_a_project_with_its_labels_and_people(manager):
    pseudonym = "9d2f1b2e-5f55-4a4b-9a70-53a0c1f0f3aa"
    path = [PathPosition(0, chosen=0, ratings=[Rating(0, "rated", 1)])]
    label = RecordAnnotation("human", "solution", path, annotator=pseudonym, revision=2, lane="control", first_error=-1)
    record = Record("p", [[Completion("a")]], annotations=[label])
    begun = start(manager, file=first_file(msgspec.json.encode(record) + b"\n", "algebra-records.jsonl", format="auto"))
    assert begun.job is not None
    assert (begun.job.format, begun.job.annotations, begun.job.rejected) == ("records", 1, 0)
    stored = begun.project.annotations.get()
    assert stored.annotator is not None
    assert (str(stored.annotator.pseudonym), stored.revision, stored.lane) == (pseudonym, 2, "control")


def test_a_file_whose_solutions_have_all_their_labels_leaves_nothing_for_a_generation(manager):
    line = {"problem": "p", "steps": ["a", "b"], "human_labels": [1, -1]}
    content = "".join(json.dumps({**line, "annotator": name}) + "\n" for name in ("ana", "ben"))
    begun = start(manager, file=first_file(content.encode(), "own.jsonl"))
    assert begun.job is not None
    assert begun.job.annotations == 2
    assert not begun.project.generations.exists()


def test_gsm8k_is_previewed_and_split_without_a_question():
    line = {"question": "Ana has 3 pens and buys 4. How many?", "answer": "3 + 4 = <<3+4=7>>7 pens.\nSo 7.\n#### 7"}
    shown = preview_import(
        head=json.dumps(line).encode() + b"\n",
        whole=True,
        filename="train.jsonl",
        format="auto",
        decomposition="automatic",
    )
    [(_, record)] = shown.records
    assert (record.problem, len(record.positions)) == (line["question"], 3)
