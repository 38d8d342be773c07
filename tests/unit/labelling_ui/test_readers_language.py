"""Texts that workers store are shown in each reader's language; files and the database have English."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.files.preparing import prepare_record
from annotation.files.rejections import rejected_lines
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.loop.gateway.training import check_training
from annotation.loop.processes.watched import last_line
from annotation.loop.registry.verdict import decide
from annotation.loop.registry.versions import record_verdict
from annotation.loop.rounds import failures
from annotation.models import AuditEntry, ImportJob, ImportRejection, ModelVersion, Preference, Project, TrainingRun
from annotation.models.model_version import AuditFinding, AuditSummary
from labelling_ui import words
from labelling_ui.pages.dataset_filters import NAMES
from labelling_ui.selectors.training import costs_of
from labelling_ui.templatetags import figures
from labelling_ui.templatetags.figures import reason_in_words
from prm.audits.finding import Check, conclude
from prm.formats.record import Rejection
from prm.formats.registry import FORMATS
from prm.messages import SENTENCES, Message, as_json, from_json
from prm.splitting import Splitting
from prm.threshold import Threshold
from prm.training.costs import DATA_SHEET, DeviceEnergy, PackageEnergy
from tests.factories import make_comparison

ENGLISH, GERMAN = "en", "de"


@pytest.fixture(params=[ENGLISH, GERMAN])
def reader(request: pytest.FixtureRequest, client: Client, people: dict[str, User]) -> tuple[Client, str]:
    Preference.objects.create(user=people["manager"], language=request.param)
    client.force_login(people["manager"])
    return client, request.param


def costs(*, peak_source: str) -> dict[str, Any]:
    read = {"seconds": 3.0, "tokens": 600, "tokens_per_second": 200.0, "padded_share": 0.01, "utilisation": 0.4}
    return {
        "device": "CPU",
        "processes": 1,
        "peak_flops": 0.5e12,
        "peak_source": peak_source,
        "peak_memory_bytes": 1_000_000_000,
        "memory_kind": "resident in the process",
        "energy_joules": None,
        "energy_source": None,
        "stages": {"cache": read},
    }


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_why_the_gate_kept_a_model_back(reader: tuple[Client, str], project: Project) -> None:
    client, language = reader
    verdict = decide(
        challenger=1234,
        champion=3,
        measured=make_comparison(gain=0.01, low=-0.06, high=0.08, solutions=40, problems=25, samples=[0.01]),
        solutions=40,
        tolerance=0.02,
        least=20,
        holdout_uses=0,
    )
    version = ModelVersion.objects.get()
    version.gate = verdict
    version.save()
    run = TrainingRun.objects.get()
    told = {
        ENGLISH: "Model 1234 is not promoted, model 3 keeps serving: ProcessBench F1 +1.0 points against model 3",
        GERMAN: "Modell 1234 wird zurückgehalten, Modell 3 bleibt im Einsatz: ProcessBench-F1 +1,0 Punkte gegen",
    }
    assert told[language] in page(client, f"/p/algebra/runs/{run.number}/")
    assert told[language] in page(client, "/p/algebra/models/")
    assert verdict.sentence.startswith(told[ENGLISH])
    answer = client.get(f"/api/v1/projects/algebra/jobs/run/{run.pk}/", headers={"Accept-Language": language}).json()
    assert answer["gate"]["sentence"].startswith(told[language])
    assert "messages" not in answer["gate"]


@pytest.mark.parametrize("language", [ENGLISH, GERMAN])
def test_a_sentence_writes_figures_as_pages_do(language: str) -> None:
    gain = Message("gate_decision", decision="", gain=-3.12, rival="")
    share = Message("measured_share", value=0.6812, low=0.5, high=0.75)
    with translation.override(language):
        assert figures.points(-0.0312) in in_words(gain)
        assert in_words(share).startswith(f"{figures.percent(0.6812, 1)} ({figures.percent(0.5, 1)} ")


def test_what_happened_to_a_model(reader: tuple[Client, str], project: Project) -> None:
    client, language = reader
    ModelVersion.objects.update(state=ModelVersion.State.CHALLENGER)
    version = ModelVersion.objects.get()
    audit.record(
        by=None,
        action="model.audit.failed",
        target=version,
        project=project,
        after={"error": Message("worker_died_repeatedly", n=2)},
    )
    verdict = decide(challenger=1234, champion=3, measured=None, solutions=4, tolerance=0.02, least=20, holdout_uses=0)
    record_verdict(version=version, verdict=verdict)
    audit.record(by=None, action="model.promote", target=version, project=project, after={"reason": "as I like it"})
    shown = page(client, f"/p/algebra/models/{version.number}/")
    assert in_words_of(language, verdict.sentence) in shown
    assert "as I like it" in shown
    entry = AuditEntry.objects.get(action="model.judge")
    assert entry.after["verdict"] == str(verdict.sentence), "in English where no page says it"


def test_what_a_training_cost(reader: tuple[Client, str], project: Project) -> None:
    client, language = reader
    version, run = ModelVersion.objects.get(), TrainingRun.objects.get()
    version.manifest |= {"costs": costs(peak_source="measured by a float32 matmul of 768 here")}
    version.save()
    TrainingRun.objects.filter(pk=run.pk).update(model_version=version)
    told = {
        ENGLISH: ("of 0.50 TFLOP/s (measured by a float32 matmul of 768 here)", "passes of the backbone 3.0 s"),
        GERMAN: ("von 0,50 TFLOP/s (hier gemessen mit einem float32-Matrixprodukt der Größe 768)", "Durchläufe"),
    }
    shown = page(client, f"/p/algebra/runs/{run.number}/")
    assert [words for words in told[language] if words not in shown] == []


@pytest.mark.parametrize("source", [DATA_SHEET, DeviceEnergy.source, PackageEnergy.source])
def test_what_figures_are_measured_by_has_a_translation(source: str) -> None:
    with translation.override(GERMAN):
        measured = costs_of(ModelVersion(manifest={"costs": costs(peak_source=source)}))
    assert not any(source in cost.source for cost in measured)


def test_what_a_snapshot_was_asked_for(reader: tuple[Client, str], project: Project, people: dict[str, User]) -> None:
    client, language = reader
    asked: dict[str, Any] = {
        "splits": ["pool"],
        "source_kinds": ["human", "model_judge"],
        "hints": "left_out",
        "submitted_to": "2099-03-01",
        "agreement": {"sources": ["human", "model_judge:gauge"], "keep": "differing", "silent": "kept"},
    }
    create_snapshot(by=people["manager"], project=project, filters=asked)
    told = {
        ENGLISH: "Splits: pool; Labels by: people, model judges; Labels made with the model’s hints: left out; "
        "Before: 1 Mar 2099; Differ on the first error: people, model judges:gauge",
        GERMAN: "Aufteilungen: Pool; Labels von: Personen, ",
    }
    assert told[language] in page(client, "/p/algebra/datasets/").replace("&#x27;", "’")
    assert {*NAMES, "agreement"} == {*SnapshotFilters.__struct_fields__}, "each filter has its words"
    rows = client.get("/p/algebra/datasets/?download=csv").getvalue().decode()
    assert "source kinds: human, model_judge" in rows


def test_why_a_run_failed(reader: tuple[Client, str], project: Project, tmp_path: Path) -> None:
    client, language = reader
    line = as_json(Message("line_error", path="a", number=3, error="x"))
    (tmp_path / "log").write_text(f"a, line 3: x\n{json.dumps(line)}\n")
    refused = last_line(tmp_path / "log")
    error = DomainError(Message("trainer_refused_data", reason=refused), code="training_data_refused")
    run = TrainingRun.objects.get()
    run.failure, run.error = failures.explain("train", error)
    run.state = TrainingRun.State.FAILED
    run.save()
    run.refresh_from_db()
    english = "The stage “train” failed: the trainer rejected its input: a, line 3: x. The champion keeps serving."
    german = "Die Stufe „Training“ ist gescheitert: der Trainer hat seine Eingabe zurückgewiesen: a, Zeile 3: x."
    assert run.error.startswith(english)
    assert {ENGLISH: english, GERMAN: german}[language] in page(client, f"/p/algebra/runs/{run.number}/")
    answer = client.get(f"/api/v1/projects/algebra/jobs/run/{run.pk}/", headers={"Accept-Language": language}).json()
    assert answer["error"] == in_words_of(language, run.error)


def in_words_of(language: str, text: str) -> str:
    with translation.override(language):
        return in_words(text)


def test_why_a_record_was_not_taken(reader: tuple[Client, str], project: Project, tmp_path: Any) -> None:
    client, language = reader
    file = tmp_path / "a.jsonl"
    file.write_text('{"steps": ["a"]}\n{"problem": 1, "steps": ["a"]}\n{"problem": "2"}\nno JSON\n')
    with file.open("rb") as stream:
        read = FORMATS.get("plain").read(stream, skip=0)
        found = [prepare_record(line, item, Splitting()) for line, item in read]
    job = ImportJob.objects.create(project=project, filename="a.jsonl", path="x", state="done", rejected=5)
    for one in found:
        ImportRejection.objects.create(job=job, line=one.line, field=one.field, reason=one.reason)
    ImportRejection.objects.create(job=job, line=9, reason="as an older release said it")
    shown = page(client, f"/imports/{job.pk}/")
    for one in found:
        assert isinstance(one, Rejection)
        assert isinstance(one.reason, Message)
        assert in_words_of(language, one.reason) in shown.replace("&#x27;", "'").replace("&quot;", '"')
    neither = "Expected at least one step in `steps`, or a `solution`"
    in_german = "Erwartet wird mindestens ein Schritt in `steps` oder eine `solution`"
    assert {ENGLISH: neither, GERMAN: in_german}[language] in shown
    assert "as an older release said it" in shown
    reasons = [json.loads(line)["reason"] for line in rejected_lines(job)]
    assert reasons[: len(found)] == [str(one.reason) for one in found]
    assert neither in client.get(f"/imports/{job.pk}/?download=csv").getvalue().decode()


def test_what_an_audit_found(reader: tuple[Client, str], project: Project) -> None:
    client, language = reader
    found = conclude(
        audit="length",
        title=Message("audit_length"),
        question="",
        checks=[Check("cannot tell", "", Message("too_few_errors", n=1))],
        when_ok="",
    )
    title, sentence = (from_json(found.messages[name]) for name in ("title", "sentence"))
    findings = [AuditFinding(title, found.verdict, sentence), AuditFinding("An extension's", "ok", "In its words.")]
    version = ModelVersion.objects.get()
    version.audits = AuditSummary("holdout.jsonl", 40, 30, 20, 200, 1000, Threshold(0.5), findings)
    version.save()
    shown = page(client, f"/p/algebra/models/{version.number}/")
    told = {ENGLISH: ("Length", "cannot tell", "Only 1 error."), GERMAN: ("Länge", "nicht zu sagen", "Nur 1 Fehler.")}
    assert all(words in shown for words in told[language])
    assert "In its words." in shown
    answer = client.get(f"/api/v1/models/{version.pk}/", headers={"Accept-Language": language}).json()
    finding, theirs = answer["audits"]["findings"]
    assert (finding["title"], finding["verdict"], finding["sentence"]) == (
        told[language][0],
        "cannot tell",
        told[language][2],
    )
    assert "messages" not in finding
    assert theirs["sentence"] == "In its words."


def test_why_the_trainer_does_not_take_the_choices() -> None:
    told = []
    for training in ({"dropout": 3}, {"epochs": "many"}):
        with pytest.raises(DomainError) as refused:
            check_training(training)
        told.append(in_words_of(GERMAN, refused.value.message))
    assert told == [
        "Die Festlegungen zum Training: dropout muss in [0, 1) liegen.",
        "Die Festlegungen zum Training: `epochs`: Erwartet wird eine ganze Zahl, nicht ein Text.",
    ]


@pytest.mark.parametrize(("n", "english", "german"), [(1, "1 step", "1 Schritt"), (2, "2 steps", "2 Schritte")])
def test_a_number_of_things_is_said_in_the_right_number(n: int, english: str, german: str) -> None:
    one = Message("n_steps", n=n)
    assert (in_words_of(ENGLISH, one), in_words_of(GERMAN, one)) == (english, german)


def test_a_refusal_is_said_in_the_callers_language(reader: tuple[Client, str], project: Project) -> None:
    client, language = reader
    answer = client.post("/api/v1/projects/algebra/runs/", headers={"Accept-Language": language}).json()
    assert {ENGLISH: "a round needs 20", GERMAN: "eine Runde braucht 20"}[language] in answer["message"]


def test_a_new_role_is_said_in_the_managers_language(
    reader: tuple[Client, str], project: Project, people: dict[str, User]
) -> None:
    client, language = reader
    address = f"/p/algebra/members/{project.memberships.get(user=people['annotator']).pk}/"
    page = client.post(address, {"role": "reviewer"}, follow=True).content.decode()
    assert {ENGLISH: "role “Reviewer”", GERMAN: "Rolle „Prüfend“"}[language] in page


def test_numbers_are_written_as_the_reader_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENTENCES, "three_numbers", "{n:,} of {all}, {share:.1f}")
    one = Message("three_numbers", n=12345, all=12345, share=0.25)
    assert in_words_of(GERMAN, one) == "12.345 of 12345, 0,2"
    assert in_words_of(ENGLISH, one) == str(one) == "12,345 of 12345, 0.2"


@pytest.mark.parametrize("language", [ENGLISH, GERMAN])
def test_a_stored_message_of_an_unknown_code_shows_its_english_text(language: str, project: Project) -> None:
    row = {"code": "of_a_later_release", "values": {"n": 2}, "text": "Two things happened."}
    job = ImportJob.objects.create(project=project, filename="a", path="x", state="failed", error=from_json(row))
    job.refresh_from_db()
    assert as_json(job.error) == row
    assert in_words_of(language, job.error) == "Two things happened."


def test_a_reworded_sentence_is_shown_in_todays_words(monkeypatch: pytest.MonkeyPatch) -> None:
    row = as_json(Message("too_few_errors", n=1))
    monkeypatch.setitem(SENTENCES, "too_few_errors", ("{n} error is too few.", "{n} errors are too few."))
    assert in_words_of(ENGLISH, from_json(row)) == "1 error is too few."
    assert str(from_json(row)) == "Only 1 error."


def test_a_text_that_a_translation_cannot_say_stays_english() -> None:
    one = Message("full_stop", sentence="x")
    one.values = {}
    assert in_words_of(GERMAN, one) == "x."


def test_a_reason_that_was_offered_is_kept_in_english_and_said_to_each(settings: Any) -> None:
    offered = (settings.BASE_DIR / "labelling_ui/frontend/src/text/en.ts").read_text()
    assert all(f'"{reason}"' in offered for reason in words.REASONS)
    with translation.override(GERMAN):
        assert reason_in_words("Too hard for me") == "Zu schwer für mich"
        assert reason_in_words("Die Skizze fehlt") == "Die Skizze fehlt"


def test_a_label_is_a_noun_beside_the_button_that_labels(
    client: Client, project: Project, people: dict[str, User]
) -> None:
    """In German the two are different words."""
    Preference.objects.create(user=people["manager"], language="de")
    client.force_login(people["manager"])
    log = client.get(f"/p/{project.slug}/audit/").content.decode()
    assert "Label: abgegeben" in log
    assert "Bewerten: " not in log
