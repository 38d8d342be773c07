"""Every list has the same columns, order and rows on its page and in its CSV file."""

import csv
import io
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Annotation,
    AnswerCheck,
    ExportSchedule,
    JudgingRun,
    Membership,
    OutcomeDisagreement,
    Problem,
    Project,
    QueueItem,
    SampledProblem,
    SamplingRun,
    ServedScore,
    ShadowComparison,
    SimulationRun,
)
from tests import manager_world
from tests.factories import SnapshotFactory

LISTS = (
    "labels/", "solutions/", "queue/", "review/", "gold/", "generations/", "generations/0/", "runs/", "models/",
    "serving/log/", "answers/", "import/", "/imports/{job}/", "sample/", "/samplings/{sampling}/", "judge/",
    "judge/{judging}/", "datasets/", "datasets/schedules/", "members/", "members/{member}/gold/", "learning/",
    "simulations/", "audit/",
)  # fmt: skip
# Behind a heading of the file: what the file says of the same as the page, which has it in words.
SAID_OTHERWISE = {
    "why": {"disagreement": "disagreement", "dispute": "reference disputed", "doubt": "unsure or flagged step"},
    "asked_for": {"everything": "everything"},
}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Cells(HTMLParser):
    """The heads and the rows of the table of the list: of each cell what it says, times as they are in `datetime`."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.heads: list[str] = []
        self.rows: list[list[str]] = []
        self._into: list[str] | None = None
        self.feed(page[page.index('id="list"') :].split("</table>")[0])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self._into = self.heads if given.get("scope") == "col" else self.rows[-1]
            self._into.append("")
        elif self._into:
            self._into[-1] += " " + " ".join(filter(None, (given.get("datetime"), given.get("title"))))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self._into = None

    def handle_data(self, text: str) -> None:
        if self._into:
            self._into[-1] += text


def agree(said: str, shown: str) -> bool:
    """Whether a cell of the file and one of the page have the same value, however each writes it."""
    shown = " ".join(shown.split())
    if said == "":
        return bool(re.fullmatch("–|unknown|no model|\\?|", shown)) or not NUMBER.search(shown)
    if re.fullmatch(r"-?\d+( -?\d+)+", said):  # the first errors of several labels
        return all((f"step {int(at) + 1}" if int(at) >= 0 else "none") in shown for at in said.split(" "))
    try:
        value = float(said if len(said) < 40 else "a hash")
    except ValueError:
        plain = " ".join(said.replace("_", " ").removeprefix("'").split())[:60]
        return plain.casefold() in shown.casefold()
    numbers = [float(one) for one in NUMBER.findall(shown.replace(",", "").replace("−", "-"))]
    scales = (1, 100, 1000, 1 / 60, 1 / 3600)
    near = any(abs(value * by - one) <= 0.051 + abs(one) * 0.01 for one in numbers for by in scales)
    return near or (value + 1 in numbers) or (value == -1 and shown.startswith(("none", "–")))


@pytest.fixture
def lists(project: Project, people: dict[str, User], client: Client) -> dict[str, int]:
    """Rows in every list, and what the addresses of some of them name."""
    client.force_login(people["manager"])
    solution, version = project.solutions.earliest("pk"), project.model_versions.get()
    by = people["manager"]
    client.post("/p/algebra/gold/mark/", {"annotation": _staff_label(project).pk, "use": "hidden"})
    person = Membership.objects.get(project=project, user=people["reviewer"])
    hidden = QueueItem.objects.create(
        project=project, generation=project.generations.get(), solution=solution, split="pool", lane="gold", rank=9
    )
    manager_world.label(hidden, person, first_error=1)
    snapshot = SnapshotFactory(project=project, created_by=by, counts={"solutions": 3, "annotations": 4})
    SimulationRun.objects.create(project=project, snapshot=snapshot, functions=["random"], seeds=2, budget=40)
    ServedScore.objects.create(
        project=project, user=by, model_version=version, model_number=1, model_sha256="a", text_hash="b", score=0.25,
        request="0" * 32, index=1, asked_at=timezone.now(), first_suspicious=2, uncertainty=0.5, seconds=0.2,
        abstained=True, mean=[], spread=[],
    )  # fmt: skip
    check = AnswerCheck.objects.create(project=project, state="done")
    OutcomeDisagreement.objects.create(
        check_run=check, solution=solution, was=True, was_source="given", graded=False, answer="=3"
    )
    sampling = SamplingRun.objects.create(
        project=project, endpoint="gpt", model="gpt-9", state="done", problems=2, seed=7
    )
    SampledProblem.objects.create(
        run=sampling, problem=Problem.objects.earliest("pk"), position=1, state="failed", error="no answer"
    )
    judging = JudgingRun.objects.create(
        project=project, method="judge", endpoint="gpt", model="gpt-9", template="critic", prompt="{problem} {steps}",
        prompt_version="critic/1", currency="EUR", seed=7, state="done", solutions=1, cost="0.0125", prompt_tokens=90,
    )  # fmt: skip
    judging.judged.create(solution=solution, position=0, state="failed", error="no verdict").calls.create(
        prefix=3, attempt=0, prompt_tokens=90, completion_tokens=20, replies=[{"text": "It is right.", "cut": False}],
        state="answered", cost="0.0125", right=2,
    )  # fmt: skip
    ShadowComparison.objects.create(
        project=project, run=project.training_runs.get(), snapshot=snapshot, generation=1, control_seconds=600,
        acquisition_labels=12, control_labels=11, acquisition_f1=0.5, control_f1=0.4, gain=0.1, low=0.01, high=0.19,
        holdout_solutions=30, start_labels=5, acquisition_seconds=600, holdout_problems=20, seed=1,
    )  # fmt: skip
    ExportSchedule.objects.create(
        project=project, name="Weekly", filters={"splits": ["pool"]}, formats=["records"], root="lake", every_days=7
    )
    return {"job": project.import_jobs.get().pk, "sampling": sampling.pk, "judging": judging.pk, "member": person.pk}


def _staff_label(project: Project) -> Annotation:
    label = project.annotations.latest("pk")
    label.annotator.role = "reviewer"
    label.annotator.save()
    return label


@pytest.mark.slow
@pytest.mark.parametrize("address", LISTS)
def test_a_page_and_its_file_agree(client: Client, lists: dict[str, int], address: str) -> None:
    address = address.format(**lists)
    address = address if address.startswith("/") else f"/p/algebra/{address}"
    page = client.get(address)
    listing = page.context["listing"]
    file = csv.reader(io.StringIO(client.get(address, {"download": "csv"}).getvalue().decode()))
    names = next(file)
    in_file = [place for place, column in enumerate(listing.columns) if column.downloads]
    assert names == [listing.columns[place].name for place in in_file]
    shown = Cells(page.content.decode())
    assert [" ".join(head.split()) for head in shown.heads] == [str(column.label) for column in listing.columns]
    rows = [row for row in shown.rows if row]
    said = list(file)
    assert rows, "a list without rows tells nothing"
    assert len(said) == len(rows)
    controls = set(range(len(listing.columns))) - set(in_file)
    assert all(row[place].strip() != "–" for row in rows for place in controls), "a control that nothing draws"
    differing = [
        (name, cell, " ".join(row[place].split()))
        for line, row in zip(said, rows, strict=True)
        for name, cell, place in zip(names, line, in_file, strict=True)
        if not agree(_in_words(listing.columns[place], cell), row[place])
    ]
    assert differing == []


def _in_words(column: Any, cell: str) -> str:
    words = SAID_OTHERWISE.get(column.name, {}) | dict(column.choices)
    return " ".join(str(words.get(one, one)) for one in ([cell] if cell in words else cell.split(" ")))
