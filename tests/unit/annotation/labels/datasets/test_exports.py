"""Files that leave keep who labelled and which split a problem is of, or say what they leave out."""

import csv
import io
import json
import tracemalloc
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product

import datasets
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from pyarrow import parquet
from structlog.testing import capture_logs

from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.models import Annotation, AuditEntry, Membership, Problem
from labelling_ui.selectors.attention import concerns
from prm.exporters import EXPORTERS
from prm.formats import table
from prm.formats.prm800k import prm800k
from prm.formats.processbench import processbench
from prm.formats.record import Completion, PathPosition, Rating, Rejection
from prm.formats.registry import FORMATS
from prm.formats.trl import trl
from prm.formats.writing import Loss, never
from tests.real_data import real_data
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_snapshots import lines, rated, solution, take_in

ALL = ("pool", "calibration", "holdout")
READERS = {"prm800k": prm800k.read, "csv": table.read, "parquet": table.read}


def by(kind, *ratings, name="", finish="solution", **fields):
    label = rated(*ratings, name=name, finish=finish, **fields)
    label.source_kind = kind
    return label


def freeze(project, manager, **filters):
    return create_snapshot(by=manager, project=project, filters=filters)


def exported(snapshot, format, **asked):
    return b"".join(export_snapshot(snapshot, format, **asked))


def moved(content, format, manager, slug):
    """A second project that took in what the first one exported."""
    project = create_project(by=manager, name=slug, slug=slug)
    import_records(project=project, records=[r for _, r in READERS[format](io.BytesIO(content))], by=None)
    return project


def kinds_of(project):
    found = Annotation.objects.filter(project=project)
    return Counter(found.values_list("source__kind", "source__name", "first_error"))


def splits_of(project):
    return dict(Problem.objects.filter(project=project).values_list("text", "split"))


@pytest.mark.slow
@pytest.mark.parametrize("format", READERS)
def test_labels_keep_their_kind_and_problems_their_split_on_the_way_through_a_file(project, manager, format):
    for number in range(40):
        one = solution(
            f"problem {'x' * number}",
            by("human", 1, 0, 1, name="ann"),
            by("model_judge", 1, -1, name="judge-7b", finish="found_error"),
            by("monte_carlo", -1, name="qwen, 8 rollouts", finish="found_error", source_detail={"rollouts": 8}),
        )
        one.source_group = f"series {number}"
        take_in(project, one)
    assert len(set(splits_of(project).values())) == 3, "each split has problems"
    again = moved(exported(freeze(project, manager), format), format, manager, "again")
    assert kinds_of(again) == kinds_of(project)
    assert splits_of(again) == splits_of(project)
    detail = Annotation.objects.filter(project=again, source__kind="monte_carlo").values_list("source__detail")
    assert set(map(str, detail)) == {"({'rollouts': 8},)"}


def test_real_processbench_labels_stay_a_consensus_in_prm800k(project, manager):
    path = real_data("processbench/gsm8k.json")
    with path.open("rb") as file:
        take_in(project, *[record for _, record in processbench.read(file)])
    content = exported(freeze(project, manager), "prm800k")
    again = moved(content, "prm800k", manager, "again")
    assert kinds_of(again) == kinds_of(project)
    assert {kind for kind, _, _ in kinds_of(again)} == {"consensus"}
    assert splits_of(again) == splits_of(project)
    assert Counter(line["split"] for line in lines([content])) == Counter(
        Annotation.objects.filter(project=project).values_list("solution__split", flat=True)
    )


def test_a_prm800k_export_adds_nothing_to_the_project_that_it_comes_from(project, manager):
    with real_data("prm800k/prm800k_real_records.jsonl").open("rb") as file:
        take_in(project, *[record for _, record in prm800k.read(file)])
    content = exported(freeze(project, manager), "prm800k")
    counts = take_in(project, *[record for _, record in prm800k.read(io.BytesIO(content))])
    assert (counts.accepted, counts.duplicates) == (0, 9)


def test_a_kind_that_nobody_knows_is_refused_with_its_line(project, manager):
    take_in(project, solution("p", rated(1)))
    [line] = lines([exported(freeze(project, manager), "prm800k")])
    [(_, found)] = prm800k.read(io.BytesIO(json.dumps(line | {"source_kind": "robot"}).encode()))
    assert isinstance(found, Rejection)
    assert found.field == "source_kind"


def test_a_line_that_does_not_say_who_labelled_is_read_as_a_persons(project, manager):
    take_in(project, solution("p", by("human", 1, name="ann"), by("model_judge", 1, name="judge-7b")))
    written = lines([exported(freeze(project, manager), "prm800k")])
    content = "\n".join(json.dumps(line) for line in written).encode()
    stripped = "\n".join(json.dumps({k: v for k, v in line.items() if k != "source_kind"}) for line in written).encode()

    def kinds(content):
        found = prm800k.read(io.BytesIO(content))
        return [record.annotations[0].source_kind for _, record in found]

    assert kinds(content) == ["human", "model_judge"], "what a line says stands"
    assert kinds(stripped) == ["human", "human"]


@pytest.fixture
def of_each_split(project):
    """Labelled solutions of each split; how many each has."""
    take_in(project, *[solution(f"problem {'x' * n}", rated(1, 1, 1)) for n in range(40)])
    return Counter(splits_of(project).values())


def test_trl_leaves_calibration_and_holdout_out_unless_they_are_asked_for(project, manager, of_each_split):
    snapshot = freeze(project, manager)
    assert len(lines([exported(snapshot, "trl")])) == of_each_split["pool"]
    plan = plan_export(snapshot, "trl")
    assert (plan.solutions, plan.splits) == (of_each_split["pool"], ("pool",))
    assert plan.left_out == {split: of_each_split[split] for split in ("calibration", "holdout")}
    every = ["pool", "calibration", "holdout"]
    assert len(lines([exported(snapshot, "trl", splits=every)])) == 40
    held = freeze(project, manager, splits=["holdout"])
    assert len(lines([exported(held, "trl")])) == of_each_split["holdout"], "a snapshot of a split asks for it"
    parquet = exported(snapshot, "trl_parquet", splits=["holdout"])
    assert sum(1 for _ in trl.read(io.BytesIO(parquet))) == of_each_split["holdout"]
    with pytest.raises(DomainError, match="test") as raised:
        exported(snapshot, "trl", splits=["test"])
    assert raised.value.code == "unknown_split"


@pytest.mark.parametrize("format", ["prm800k", "csv", "records"])
def test_formats_that_say_the_split_hold_every_split_or_those_that_are_asked_for(
    project, manager, of_each_split, format
):
    snapshot = freeze(project, manager)

    def splits(**asked):
        content = exported(snapshot, format, **asked).decode()
        rows = csv.DictReader(io.StringIO(content)) if format == "csv" else map(json.loads, content.splitlines())
        return Counter(row["split"] for row in rows)

    assert splits() == of_each_split
    assert splits(splits=["holdout"]) == {"holdout": of_each_split["holdout"]}


@pytest.mark.parametrize("format", ["trl", "trl_parquet"])
def test_trl_refuses_labels_of_several_kinds(project, manager, format):
    take_in(project, solution("p", by("human", 1, name="ann"), by("model_judge", 1, name="judge-7b")))
    with pytest.raises(DomainError, match="source_kinds") as raised:
        exported(freeze(project, manager), format, splits=ALL)
    assert raised.value.code == "mixed_kinds"
    assert raised.value.extra == {"source_kinds": {"human": 1, "model_judge": 1}}
    assert exported(freeze(project, manager, source_kinds=["human"]), format, splits=ALL)


def test_what_a_line_of_trl_cannot_hold_is_counted_by_its_reason(project, manager):
    own = rated(finish="give_up")
    own.path = [PathPosition(0, own_text="mine")]
    take_in(
        project,
        solution("gave up", rated(finish="give_up")),
        solution("unsure", rated(None, 1)),
        solution("own step", own),
        solution("neutral", rated(0, 1, 1)),
        solution("neutral later", rated(1, 0, 1)),
        solution("unsure later", rated(1, None, 1)),
        solution("whole", rated(1, 1, 1)),
        solution("unlabelled"),
    )
    snapshot = freeze(project, manager, min_annotations=0)
    plan = plan_export(snapshot, "trl", splits=ALL)
    assert (plan.solutions, plan.ends_early) == (4, {"unrated": 1})
    assert plan.left_out == {"unlabelled": 1, "no_path": 1, "unrated": 1, "own_step": 1}
    dropping = plan_export(snapshot, "trl", neutral="drop", splits=ALL)
    assert (dropping.solutions, dropping.ends_early) == (3, {"neutral": 1, "unrated": 1})
    assert dropping.left_out == plan.left_out | {"neutral": 1}
    for neutral, expected in (("positive", plan), ("drop", dropping)):
        assert len(lines([exported(snapshot, "trl", neutral=neutral, splits=ALL)])) == expected.solutions
    assert plan_export(snapshot, "prm800k").left_out == {"unlabelled": 1}
    card = dataset_card(snapshot, neutral="drop", splits=ALL)
    assert "| TRL | 3 | 1 solution without labels; 1 solution whose labels have no path" in card
    assert "1 line ends before a neutral step" in card


@pytest.mark.parametrize("format", ["trl", "trl_parquet"])
def test_an_export_without_a_line_is_refused_with_the_reasons(project, manager, format):
    take_in(project, solution("p", rated(None, 1)), solution("q", rated(finish="give_up")))
    with pytest.raises(DomainError, match="1 solution whose first step is unsure or not rated") as raised:
        exported(freeze(project, manager), format, splits=ALL)
    assert raised.value.code == "empty_export"
    assert raised.value.extra["left_out"] == {"unrated": 1, "no_path": 1}


def test_what_a_format_cannot_say_of_steps_is_counted(project, manager):
    one = solution("p", rated(1, -1, finish="found_error"))
    one.positions[1].append(Completion("other"))
    one.annotations[0].path[1].ratings[0].error_type = "slip"
    one.annotations[0].path[1].ratings.append(Rating(1, "rated", rating=1))
    take_in(project, one)
    snapshot = freeze(project, manager)
    assert plan_export(snapshot, "records").not_held == {}
    assert plan_export(snapshot, "prm800k").not_held == {"error_types": 1}
    assert plan_export(snapshot, "csv").not_held == {"alternatives": 1, "error_types": 1}
    assert plan_export(snapshot, "trl", splits=ALL).not_held == {"alternatives": 1, "error_types": 1}
    assert "1 rating of an alternative" in dataset_card(snapshot)


def test_what_a_table_loses_of_real_prm800k_is_own_steps_alone(project, manager):
    with real_data("prm800k/prm800k_real_records.jsonl").open("rb") as file:
        take_in(project, *[record for _, record in prm800k.read(file)])
    snapshot = freeze(project, manager)
    again = moved(exported(snapshot, "csv"), "csv", manager, "again")

    def errors(project):
        found = Annotation.objects.filter(project=project).order_by("solution__problem__text", "source__name")
        return list(found.values_list("source__kind", "source__name", "first_error"))

    changed = [(was, now) for was, now in zip(errors(project), errors(again), strict=True) if was != now]
    assert all(was[:2] == now[:2] and now[2] is None for was, now in changed), "unknown, never another error"
    own = Annotation.objects.filter(project=project, path__own_text__isnull=False).distinct().count()
    assert 0 < len(changed) <= own
    assert plan_export(snapshot, "csv").not_held["own_steps"] == snapshot.counts["own_steps"]


def test_a_card_counts_people_for_the_labels_of_people_alone(project, manager):
    take_in(
        project,
        solution(
            "p",
            by("human", 1, -1, name="ann", finish="found_error"),
            by("model_judge", 1, 1, 1, name="judge-7b"),
            by("model_judge", 1, 1, 1, name="judge-70b"),
            by("monte_carlo", 1, 1, 1, name="qwen, 8 rollouts"),
        ),
    )
    snapshot = freeze(project, manager)
    card = dataset_card(snapshot)
    assert "| people | 1 | 1 |" in card
    assert "| model judges | 2 | – |" in card
    assert "No solution was decided by two people" in card
    assert snapshot.counts["people"] == {"human": 1}


def test_an_edited_file_is_never_read(project, manager):
    take_in(project, solution("p", rated(1, 1, 1)))
    snapshot = freeze(project, manager)
    path = snapshot_file(snapshot)
    whole = path.read_bytes()
    formats = [one for one in EXPORTERS if not plan_export(snapshot, one, splits=ALL).refusal]
    assert len(formats) > 10
    path.chmod(0o640)
    path.write_bytes(whole.replace(b'"rating":1', b'"rating":0', 1))
    with capture_logs() as logs:
        for read in (
            lambda: read_snapshot(snapshot),
            *(partial(exported, snapshot, one, splits=ALL) for one in formats),
        ):
            with pytest.raises(Conflict, match="changed after the snapshot was made") as raised:
                read()
            assert raised.value.code == "snapshot_file_changed"
    assert {(log["event"], log["log_level"], log["snapshot"]) for log in logs} == {
        ("snapshot_file_changed", "error", snapshot.pk)
    }
    member = Membership.objects.get(project=project, user=manager)
    [concern] = [one for one in concerns(member) if "snapshot" in one.label]
    assert (concern.count, concern.href) == (1, "/p/project/datasets/")
    entry = AuditEntry.objects.filter(action="snapshot.changed").first()
    assert entry.before == {"sha256": snapshot.sha256} != entry.after
    path.write_bytes(whole)
    assert exported(snapshot, "records") == whole, "restored, it is read again"


@pytest.mark.slow
def test_a_snapshot_is_hashed_read_and_exported_in_little_memory(project, manager):
    take_in(project, *[solution(f"{n} " + "long " * 2000, rated(1, 1, 1)) for n in range(1000)])
    snapshot = freeze(project, manager)
    assert snapshot_file(snapshot).stat().st_size > 10_000_000
    tracemalloc.start()
    for _ in export_snapshot(snapshot, "records"):
        pass
    for _ in read_snapshot(snapshot):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3_000_000
    for format in ("trl", "processbench", "prm800k", "csv"):
        tracemalloc.start()
        for _ in export_snapshot(snapshot, format, splits=ALL):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 3_000_000, format


def test_the_command_says_what_it_left_out(project, manager, of_each_split, tmp_path):
    out = io.StringIO()
    file = tmp_path / "train.jsonl"
    call_command("export_snapshot", file, project="project", format="trl", stdout=out)
    assert len(file.read_text().splitlines()) == of_each_split["pool"]
    assert f"Left out: {of_each_split['calibration']} calibration solutions" in out.getvalue()
    call_command("export_snapshot", file, project="project", format="trl", splits=list(ALL), stdout=out)
    assert len(file.read_text().splitlines()) == 40
    with pytest.raises(CommandError, match="would be empty"):
        call_command(
            "export_snapshot", file, project="project", format="trl", splits=["pool"], filters='{"splits": ["holdout"]}'
        )


def test_every_format_has_and_leaves_out_what_its_plan_says(project, manager):
    corrected = solution("Step 1 of two", rated(1, -1, finish="found_error"))
    corrected.positions[1].append(Completion("other"))
    corrected.annotations[0].path[1].ratings.append(Rating(1, "rated", rating=1))
    take_in(
        project,
        corrected,
        solution("whole", rated(1, 1, 1)),
        solution("neutral", rated(1, 0, 1), rated(1, 0, -1, name="b", finish="found_error")),
        solution("neutral first", rated(0, -1, finish="found_error")),
        solution("unsure", rated(1, None, -1, finish="found_error")),
        solution("gave up", rated(finish="give_up")),
        solution("unlabelled"),
    )
    snapshot = freeze(project, manager, min_annotations=0)
    everything = Counter(record.split for record in read_snapshot(snapshot))
    for format, neutral in product(EXPORTERS, ("positive", "negative", "drop")):
        plan = plan_export(snapshot, format, neutral=neutral, splits=ALL)
        assert plan.solutions + sum(plan.left_out.values()) == everything.total() == 7
        if plan.refusal:
            assert (plan.rows, plan.refusal.code) == (0, "empty_export")
            with pytest.raises(DomainError, match="would be empty"):
                exported(snapshot, format, neutral=neutral, splits=ALL)
        elif EXPORTERS.get(format).suffix == "jsonl":
            assert len(lines([exported(snapshot, format, neutral=neutral, splits=ALL)])) == plan.rows
    assert plan_export(snapshot, "processbench", splits=ALL).left_out == {"unlabelled": 1, "unknown_error": 1}
    shepherd = plan_export(snapshot, "math_shepherd", splits=ALL)
    assert shepherd.left_out == {"unlabelled": 1, "ambiguous": 1, "unrated": 1}
    assert (shepherd.ends_early, shepherd.not_held["merged"]) == ({"unrated": 1}, 1)
    dropping = plan_export(snapshot, "math_shepherd", neutral="drop", splits=ALL)
    assert dropping.left_out == shepherd.left_out | {"neutral": 1}
    assert dropping.ends_early == {"unrated": 1, "neutral": 1}
    assert plan_export(snapshot, "preference", splits=ALL).left_out == {"unlabelled": 1, "no_correction": 5}
    assert plan_export(snapshot, "plain", splits=ALL).not_held == {"labels": 7}


NAMELESS = [name for name in EXPORTERS if EXPORTERS.get(name).nameless and EXPORTERS.get(name).has_labels]


@pytest.mark.parametrize("format", NAMELESS)
def test_a_format_that_cannot_say_the_kind_mixes_kinds_on_request_only(project, manager, format):
    one = solution("p", by("human", 1, -1, name="ann", finish="found_error"), by("model_judge", 1, -1, name="judge-7b"))
    one.positions[1].append(Completion("other"))
    one.annotations[0].path[1].ratings.append(Rating(1, "rated", rating=1))
    take_in(project, one)
    snapshot = freeze(project, manager)
    plan = plan_export(snapshot, format, splits=ALL, mixed_kinds="allow")
    if plan.refusal:
        assert format in ("messages", "who_and_when"), "there is no agent's run"
        return
    with pytest.raises(DomainError, match="several source kinds") as raised:
        exported(snapshot, format, splits=ALL)
    assert raised.value.code == "mixed_kinds"
    assert plan.mixed_kinds == {"human": 1, "model_judge": 1}
    assert exported(snapshot, format, splits=ALL, mixed_kinds="allow")
    card = dataset_card(snapshot, splits=ALL, mixed_kinds="allow")
    [said] = [line for line in card.splitlines() if "By request" in line]
    assert "(human: 1, model_judge: 1)" in said
    assert f"`{format}`" in said
    assert "By request" not in dataset_card(snapshot, splits=ALL)


def test_the_page_the_api_and_the_command_mix_kinds_on_request_only(project, manager, client, tmp_path):
    take_in(project, solution("p", by("human", 1, 1, 1, name="ann"), by("model_judge", 1, 1, 1, name="judge-7b")))
    snapshot = freeze(project, manager)
    client.force_login(manager)
    page = reverse("snapshot-download", args=[project.slug, snapshot.pk, "trl"])
    assert "several source kinds" in client.get(page + "?splits=pool", follow=True).content.decode()
    splits = "&".join(f"splits={split}" for split in ALL)
    content = exported(snapshot, "trl", splits=ALL, mixed_kinds="allow")
    assert b"".join(client.get(f"{page}?{splits}&mixed_kinds=allow")) == content
    shown = client.get(reverse("snapshot", args=[project.slug, snapshot.pk])).content.decode()
    assert (f"{page}?mixed_kinds=allow" in shown) == (splits_of(project) == {"p": "pool"})
    address = f"/api/v1/snapshots/{snapshot.pk}/"
    refused = client.get(f"{address}download/?format=trl&{splits}")
    assert (refused.status_code, refused.json()["code"]) == (400, "mixed_kinds")
    assert b"".join(client.get(f"{address}download/?format=trl&{splits}&mixed_kinds=allow")) == content
    assert "By request" in client.get(f"{address}card/?{splits}&mixed_kinds=allow").content.decode()
    file = tmp_path / "a.jsonl"
    options = {"project": project.slug, "format": "trl", "splits": list(ALL)}
    with pytest.raises(CommandError, match="several source kinds"):
        call_command("export_snapshot", file, **options)
    call_command("export_snapshot", file, **options, mixed_kinds="allow", stdout=io.StringIO())
    assert file.read_bytes() == content
    assert "By request" in (tmp_path / "a.jsonl.md").read_text()


def test_kinds_in_other_splits_do_not_count_as_mixed(project, manager, of_each_split):
    judged = solution("problem x", by("model_judge", 1, 1, 1, name="judge-7b"))
    judged.split = splits_of(project)["problem x"]
    take_in(project, judged)
    snapshot = freeze(project, manager)
    other = next(split for split in ALL if split != judged.split)
    assert exported(snapshot, "trl", splits=[other])
    with pytest.raises(DomainError, match="several source kinds"):
        exported(snapshot, "trl", splits=[judged.split])


def test_an_unknown_rule_for_mixed_kinds_is_refused(project, manager):
    take_in(project, solution("p", rated(1)))
    with pytest.raises(DomainError, match="maybe") as raised:
        plan_export(freeze(project, manager), "trl", mixed_kinds="maybe")
    assert raised.value.code == "unknown_mixed_kinds"


def test_records_of_some_splits_are_lines_of_the_snapshot(project, manager, of_each_split):
    snapshot = freeze(project, manager)
    whole = snapshot_file(snapshot).read_bytes().splitlines(keepends=True)
    assert exported(snapshot, "records") == b"".join(whole)
    some = exported(snapshot, "records", splits=["holdout"])
    assert some == b"".join(line for line in whole if json.loads(line)["split"] == "holdout")
    assert len(some.splitlines()) == of_each_split["holdout"]


def test_a_newer_writer_is_planned_anew(project, manager, of_each_split, monkeypatch):
    def newer(record, neutral):
        return [{"problem": record.problem}] if len(record.problem) % 2 else [Loss("unrated")]

    snapshot = freeze(project, manager)
    trl_format = FORMATS.get("trl")
    monkeypatch.setattr(
        trl_format, "exporter", replace(trl_format.exporter, lines=newer, version="test-newer", by_structure=never)
    )
    plan = plan_export(snapshot, "trl", splits=ALL)
    assert (plan.solutions, plan.left_out) == (20, {"unrated": 20})
    assert len(lines([exported(snapshot, "trl", splits=ALL)])) == 20
    assert "| TRL | 20 | 20 solutions whose first step is unsure or not rated | test-newer |" in dataset_card(
        snapshot, splits=ALL
    )


def test_a_lost_file_refuses_the_plan_of_a_newer_writer(project, manager, monkeypatch):
    take_in(project, solution("p", rated(1)))
    snapshot = freeze(project, manager)
    snapshot_file(snapshot).unlink()
    assert plan_export(snapshot, "prm800k").refusal is None
    trl_format = FORMATS.get("trl")
    monkeypatch.setattr(trl_format, "exporter", replace(trl_format.exporter, version="test-lost"))
    assert plan_export(snapshot, "trl").refusal.code == "snapshot_file_missing"


def test_the_hugging_face_folder_has_the_card_and_the_splits(project, manager, of_each_split, client, tmp_path):
    snapshot = freeze(project, manager)
    content = exported(snapshot, "huggingface")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        card = archive.read("README.md").decode()
        rows = {
            split: parquet.read_table(io.BytesIO(archive.read(f"data/{name}.parquet"))).num_rows
            for split, name in zip(ALL, ("train", "validation", "test"), strict=True)
        }
    assert rows == of_each_split
    assert card.startswith("---\nconfigs:\n")
    assert f"# {project.name}: labelled reasoning steps" in card
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "set")
    loaded = datasets.load_dataset(str(tmp_path / "set"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in loaded.items()} == {
        "train": of_each_split["pool"],
        "validation": of_each_split["calibration"],
        "test": of_each_split["holdout"],
    }
    client.force_login(manager)
    address = f"/api/v1/snapshots/{snapshot.pk}/download/?format="
    tags = {format: client.get(address + format)["ETag"] for format in ("huggingface", "parquet")}
    project.name = "Renamed"
    project.save()
    again = {format: client.get(address + format)["ETag"] for format in tags}
    assert again["huggingface"] != tags["huggingface"], "the card in the file has the name"
    assert again["parquet"] == tags["parquet"]
