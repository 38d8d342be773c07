"""Imports as jobs: chunk by chunk, each once, with everything that was refused named."""

import io
import json
from datetime import timedelta

import msgspec
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DataError
from django.utils import timezone

from annotation.core import storage
from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.core.lifecycle import cancel_job, progress_of, sweep_jobs
from annotation.core.membership.members import add_member
from annotation.files import chunks, import_body, rejections, store
from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, create_import, import_files
from annotation.files.preparing import prepare_record
from annotation.files.rejections import original_lines, rejected_lines
from annotation.files.warnings import warnings_in_words
from annotation.models import Annotation, AuditEntry, ImportJob, ImportOptions, Problem, Solution, Step
from prm.formats.mapping import LabelMapping, Mapping, StepsMapping
from prm.formats.record import Completion, Record, RecordAnnotation
from prm.splitting import Splitting
from tests.real_data import real_data


def plain(number, **fields):
    return {"problem": f"problem number {'i' * number}", "steps": [f"s{number}"], **fields}


@pytest.mark.django_db
def test_hidden_reasoning_of_a_text_is_no_step_and_stays_with_the_solution(import_content):
    thought = "<think>\nIs it 5?\n\nNo.\n</think>\n\nCount them.\n\nThe answer is 4."
    rows = [{"problem": "What is 2 + 2?", "solution": thought}, {"problem": "And 2 + 3?", "solution": "<think>Hm"}]
    job = import_content("\n".join(json.dumps(row) for row in rows).encode())
    assert counts(job) == (1, 0, 1, 0)
    solution = Solution.objects.get()
    assert list(solution.steps.order_by("position").values_list("text", flat=True)) == [
        "Count them.",
        "The answer is 4.",
    ]
    assert solution.extra == {"thinking": "Is it 5?\n\nNo."}
    assert solution.origin.settings == {"thinking": "separate", "thinking_characters": len("Is it 5?\n\nNo.")}
    [rejection] = job.rejections.all()
    assert (rejection.line, rejection.field) == (2, "solution")


def counts(job):
    return job.accepted, job.duplicates, job.rejected, job.annotations


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 3)


@pytest.fixture
def sent(monkeypatch):
    """What would have been enqueued."""
    tasks = []
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: tasks.append(task))
    return tasks


def test_the_same_file_twice_adds_nothing_and_says_so(import_content):
    lines = [plain(n, solution="a\n\nb") if n % 2 else plain(n) for n in range(7)]
    for line in lines[1::2]:
        del line["steps"]
    job = import_content(lines)
    assert (job.state, job.format, counts(job)) == ("done", "plain", (7, 0, 0, 0))
    assert (job.done_records, job.done_bytes) == (7, job.total_bytes)
    assert Step.objects.count() == 4 + 3 * 2
    assert counts(import_content(lines)) == (0, 7, 0, 0)
    assert Solution.objects.count() == 7
    assert Solution.objects.filter(import_job=job).count() == 7


def test_what_is_refused_is_named_and_the_rest_is_in(import_content, small_chunks):
    bad_label = {"labeler": "l", "question": {"problem": "p"}, "label": {"steps": [], "finish_reason": "give_up"}}
    job = import_content(
        [
            plain(1),
            b"{broken",
            plain(2, steps=[]),
            plain(3),
            b'{"problem": "nul\\u0000", "steps": ["a"]}',
            b'{"problem": "\xff", "steps": ["a"]}',
            b"",
            plain(4, steps=["", " "]),
            plain(5, generator="g" * 300),
            plain(6, id=None, steps=[" x "]),
            {"problem": "  ", "steps": ["a"]},
            {"problem": "q", "solution": " \n "},
            bad_label,
        ],
        format="plain",
    )
    assert (job.state, counts(job)) == ("done", (3, 0, 9, 0))
    refused = list(job.rejections.values_list("line", "field"))
    assert refused == [
        (2, ""), (3, "steps"), (5, "problem"), (6, ""), (8, "steps"), (9, "generator"), (11, "problem"),
        (12, "steps"), (13, "problem"),
    ]  # fmt: skip
    downloaded = [json.loads(line) for line in rejected_lines(job)]
    assert [line["line"] for line in downloaded] == [line for line, _ in refused]
    assert downloaded[0]["excerpt"] == "{broken"


@pytest.mark.parametrize("as_array", [False, True])
def test_refused_records_come_back_as_they_were_sent(import_content, small_chunks, as_array):
    """Mended, the same file goes in: the lines are those of the file, in its order, whatever refused them."""
    broken = [
        b'{"problem": "q", "steps": ["a"],,}',
        b'{"problem": "r",\n "steps": []}',
        b'{"problem": "\xff", "steps": [1]}',
    ]
    if not as_array:
        broken[1] = broken[1].replace(b"\n", b" ")
    lines = [json.dumps(plain(n)).encode() for n in range(7)]
    lines[2:2], lines[8:8] = broken[:2], broken[2:]
    content = b"[" + b",\n".join(lines) + b"]" if as_array else b"\n\n".join(lines)
    job = import_content(content, format="plain")
    assert counts(job) == (7, 0, 3, 0)
    sent_back = b"".join(original_lines(job)).splitlines()
    assert sent_back == [raw.replace(b"\n", b" ") for raw in broken]
    mended = [
        sent_back[0].replace(b",,", b""),
        sent_back[1].replace(b"[]", b'["a"]'),
        b'{"problem":"s","steps":["1"]}',
    ]
    assert counts(import_content(mended)) == (3, 0, 0, 0)


def test_what_is_kept_of_refused_records_is_bounded(import_content, monkeypatch):
    monkeypatch.setattr(rejections, "MAX_ORIGINAL", 100)
    monkeypatch.setattr(rejections, "MAX_ORIGINALS", 150)
    refused = [{"problem": 1, "pad": "x" * size} for size in (200, 60, 60, 60)]
    job = import_content(refused, format="plain")
    assert job.rejected == job.rejections.count() == 4
    assert len(list(original_lines(job))) == 2


def test_give_ups_with_empty_completions_come_in(import_content):
    line = {
        "labeler": "l",
        "timestamp": "2022",
        "question": {"problem": "p", "pre_generated_steps": ["a"]},
        "label": {
            "steps": [
                {"completions": [], "human_completion": None, "chosen_completion": None},
                {"completions": None, "human_completion": None, "chosen_completion": None},
            ],
            "total_time": None,
            "finish_reason": "give_up",
        },
    }
    job = import_content([line])
    assert (job.format, counts(job)) == ("prm800k", (1, 0, 0, 1))
    assert Annotation.objects.get().first_error is None
    assert Annotation.objects.get().path.count() == 2


def test_an_unrated_step_before_a_bad_one_leaves_the_first_error_unknown(import_content):
    messages = [{"role": "user", "content": "q"}, *({"role": "assistant", "content": word} for word in "abc")]
    import_content([{"messages": messages, "step_labels": {"1": 1, "3": -1}}], format="messages")
    label = Annotation.objects.get()
    assert (label.finish_reason, label.first_error) == ("found_error", None)


LABELLED = {"problem": "p", "steps": ["a", "b", "c"], "generator": "m"}


def opinions():
    rows = Annotation.objects.order_by("pk")
    return list(rows.values_list("source__name", "revision", "first_error"))


def test_two_unnamed_annotators_of_one_solution_are_both_kept(import_content, small_chunks):
    """Nobody knows that they are the same person, so none replaces the other, in whichever chunk they come."""
    job = import_content([LABELLED | {"label": label} for label in (1, 2, 1)] + [plain(1, label=0)])
    assert opinions()[:2] == [("processbench", 1, 1), ("processbench (2)", 1, 2)]
    assert counts(job) == (3, 1, 0, 3)
    assert job.warnings["unnamed_labels"] == 1
    assert "Name the annotators in the field `annotator`" in " ".join(warnings_in_words(job.warnings))
    job = import_content([LABELLED | {"label": label} for label in (-1, 2, 1)])
    assert (counts(job), opinions()[-1]) == ((1, 2, 0, 1), ("processbench (3)", 1, -1))


def test_named_annotators_are_kept_apart_and_a_second_label_of_one_is_a_counted_revision(import_content):
    named = [LABELLED | {"label": label, "annotator": name} for label, name in ((1, "a"), (2, "b"), (1, "c"))]
    job = import_content(named)
    assert opinions() == [("a", 1, 1), ("b", 1, 2), ("c", 1, 1)]
    assert "unnamed_labels" not in job.warnings
    job = import_content([LABELLED | {"label": 0, "annotator": "a"}])
    assert opinions()[-1] == ("a", 2, 0)
    assert job.warnings["revised_labels"] == 1


def test_an_option_names_who_labelled_a_file_and_what_they_are(import_content):
    options = ImportOptions(annotator="judge-2", labelled_by="model_judge")
    import_content([LABELLED | {"label": 1}], options=options)
    import_content([LABELLED | {"label": 2}], options=msgspec.structs.replace(options, annotator="judge-3"))
    rows = Annotation.objects.order_by("pk").values_list("source__kind", "source__name", "revision")
    assert list(rows) == [("model_judge", "judge-2", 1), ("model_judge", "judge-3", 1)]


@pytest.mark.parametrize(("stated", "kept"), [("monte_carlo", "monte_carlo"), ("human", "model_judge")])
def test_an_option_never_replaces_a_machine_s_kind_that_a_line_states(stated, kept):
    label = RecordAnnotation(source_kind=stated, finish_reason="solution", path=[], first_error=-1)
    record = Record(problem="p", positions=[[Completion("a")]], annotations=[label])
    read = prepare_record(1, record, Splitting("lines", "keep"), ImportOptions(labelled_by="model_judge"))
    assert [annotation.source_kind for annotation in read.annotations] == [kept]


def test_a_column_of_a_table_that_names_annotators_keeps_them_apart(import_content):
    rows = ["problem,steps,first_error,annotator"]
    rows += [f'p,"[""a"", ""b""]",{error},{name}' for error, name in ((0, "ann"), (1, "bob"))]
    import_content("\n".join(rows).encode(), name="rows.csv")
    labels = Annotation.objects.order_by("pk")
    told = labels.values_list("source__kind", "annotator__name_in_file", "revision", "first_error")
    assert list(told) == [("human", "ann", 1, 0), ("human", "bob", 1, 1)]


def test_twenty_real_annotators_of_the_same_runs_are_twenty(import_content):
    runs = {}
    for line in map(json.loads, real_data("agentprocessbench/hotpotqa.jsonl").read_text().splitlines()[:10]):
        runs[line["query_index"], line["sample_index"]] = line["messages"]
    lines = []
    for file in sorted(real_data("agentprocessbench/annotators").iterdir()):
        for label in map(json.loads, file.read_text().splitlines()):
            if messages := runs.get((label["query_index"], label["sample_index"])):
                given = {"step_labels": label["step_labels"], "annotator": file.stem}
                lines.append({"messages": messages, **given})
    job = import_content(lines, format="messages", options=ImportOptions(labelled_by="model_judge"))
    assert (job.rejected, Solution.objects.count()) == (0, 10)
    assert Annotation.objects.filter(revision=1).count() == 200
    assert set(Annotation.objects.values_list("source__kind", flat=True)) == {"model_judge"}


def test_an_empty_step_stays_in_its_place_and_is_counted(import_content):
    job = import_content([LABELLED | {"steps": ["a", " ", "c", "d"], "label": 2}, plain(1, steps=["x", "y"], label=-1)])
    assert counts(job) == (2, 0, 0, 2)
    steps = Step.objects.filter(solution__generator="m").order_by("position")
    assert list(steps.values_list("text", flat=True)) == ["a", " ", "c", "d"]
    assert Annotation.objects.get(first_error=2).ratings.get(rating=-1).step.text == "c"
    assert (job.warnings["empty_steps"], job.warnings["solutions_with_empty_steps"]) == (1, 1)
    assert "1 step (1 solution) has no text" in " ".join(warnings_in_words(job.warnings))


def test_empty_steps_are_refused_where_the_user_chose_so(import_content):
    lines = [plain(1, steps=["a", " ", "c"]), plain(2)]
    job = import_content(lines, options=ImportOptions(empty_steps="refuse"))
    assert counts(job) == (1, 0, 1, 0)
    assert list(job.rejections.values_list("line", "field")) == [(1, "steps[1]")]


def test_empty_steps_of_a_table_keep_their_place(import_content):
    mapping = Mapping(
        problem="p", steps=StepsMapping(["s"], form="separated", separator="|"), labels=[LabelMapping(["e"])]
    )
    import_content(b"p,s,e\nq,a||c|,2\n", name="a.csv", options=ImportOptions(mapping=mapping))
    columns = Mapping(problem="p", steps=StepsMapping(["1", "2", "3", "4"], form="columns"))
    import_content(b"p,1,2,3,4\nr,a,,c,\n", name="b.csv", options=ImportOptions(mapping=columns))
    for problem in Problem.objects.all():
        steps = Step.objects.filter(solution__problem=problem).order_by("position")
        assert list(steps.values_list("text", flat=True)) == ["a", "", "c"]
    assert Annotation.objects.get().first_error == 2


ALIKE = [{"problem": f"What is {n} plus {n + 1}?", "steps": ["s"]} for n in range(50)]


def test_problems_that_share_one_source_group_are_warned_of(import_content):
    job = import_content(ALIKE)
    assert (job.warnings["problems"], job.warnings["source_groups"]) == (50, 1)
    [sentence] = map(str, warnings_in_words(job.warnings))
    assert "50 problems in 1 source group" in sentence
    assert "cannot be measured" in sentence


def test_a_source_group_of_most_problems_is_warned_of(import_content):
    others = [{"problem": f"Why is {word} green?", "steps": ["s"]} for word in map("x".__mul__, range(1, 41))]
    assert import_content([*others, *ALIKE[:30]]).warnings == {}
    job = import_content(ALIKE)
    assert Problem.objects.values("split").distinct().count() == 3
    assert job.warnings["largest_group"] == 50
    [sentence] = map(str, warnings_in_words(job.warnings))
    assert sentence.startswith("50 of the 90 problems share one source group")


def test_problems_can_be_grouped_by_their_exact_text(import_content):
    job = import_content(ALIKE, options=ImportOptions(source_groups="text"))
    assert set(Problem.objects.values_list("split", flat=True)) == {"pool", "calibration", "holdout"}
    assert job.warnings == {}


def test_only_so_many_refusals_are_kept_and_the_rest_is_counted(import_content, small_chunks, monkeypatch):
    monkeypatch.setattr(rejections, "MAX_REJECTIONS", 4)
    job = import_content([plain(1), *[{"problem": 1}] * 9])
    assert counts(job) == (1, 0, 9, 0)
    assert list(job.rejections.values_list("line", flat=True)) == [2, 3, 4, 5]


def test_a_record_that_the_database_refuses_does_not_stop_the_others(import_content, monkeypatch):
    given = store._Chunk._add_problem

    def refuse(self, one):
        if "iii" in one.record.problem and "iiii" not in one.record.problem:
            raise DataError("too odd\nreally")
        return given(self, one)

    monkeypatch.setattr(store._Chunk, "_add_problem", refuse)
    job = import_content([plain(n) for n in range(6)])
    assert counts(job) == (5, 0, 1, 0)
    assert list(job.rejections.values_list("line", "reason")) == [(4, "the database rejects it: too odd")]


def test_an_import_goes_on_where_it_was(import_content, project, tmp_path, small_chunks, monkeypatch):
    path = tmp_path / "file.jsonl"
    path.write_text("\n".join(json.dumps(plain(n)) for n in range(8)))
    job = create_import(by=None, project=project, path=path, filename="f", manner=Manner("plain"))
    stored = import_body.store_identified

    def fail_at_the_third(**chunk):
        if Solution.objects.count() == 6:
            raise MemoryError
        return stored(**chunk)

    monkeypatch.setattr(import_body, "store_identified", fail_at_the_third)
    run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done_records, job.accepted) == ("failed", 6, 6)
    assert "MemoryError" in job.error
    ImportJob.objects.update(state="running")
    monkeypatch.setattr(import_body, "store_identified", stored)
    run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done_records, counts(job)) == ("done", 8, (8, 0, 0, 0))


def test_cancelling_stops_behind_the_chunk_and_keeps_what_is_in(project, manager, tmp_path, small_chunks, sent):
    file = [json.dumps(plain(n)).encode() + b"\n" for n in range(9)]
    [job] = import_files(by=manager, project=project, files=[("f.jsonl", file)], manner=Manner())
    run_import(job.pk, on_progress=lambda job: ImportJob.objects.update(cancel_requested=True))
    job.refresh_from_db()
    assert (job.state, job.accepted) == ("cancelled", 3)
    with pytest.raises(Conflict):
        cancel_job(by=manager, job=job)


def test_one_that_waits_is_cancelled_at_once(project, manager, sent, django_capture_on_commit_callbacks):
    content = json.dumps(plain(1)).encode()
    [job] = import_files(by=manager, project=project, files=[("f", [content])], manner=Manner())
    with django_capture_on_commit_callbacks(execute=True):
        assert cancel_job(by=manager, job=job).state == "cancelled"
    assert not storage.fetch(storage.key_of(job.path)).exists()
    run_import(job.pk)
    assert not Solution.objects.exists()


def test_an_upload_is_dropped_at_the_end_and_other_files_stay(
    project, manager, sent, import_content, django_capture_on_commit_callbacks
):
    pieces = [b'{"problem": "p",', b'"steps": ["a"]}']
    [job] = import_files(by=manager, project=project, files=[("a/b.json", pieces)], manner=Manner())
    assert (job.filename, sent) == ("b.json", [("intake.run", job.pk)])
    with django_capture_on_commit_callbacks(execute=True):
        run_import(job.pk)
        other = import_content([plain(1)])
    assert not storage.fetch(storage.key_of(job.path)).exists()
    assert storage.fetch(storage.key_of(other.path)).exists()
    actions = (
        AuditEntry.objects.filter(action__startswith="import.", target_id=str(job.pk))
        .order_by("id")
        .values_list("action", flat=True)
    )
    assert list(actions) == ["import.start", "import.done"]


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        (b"", {}, "unknown_format"),
        (b"PK\x03\x04", {}, "unknown_format"),
        (b"{}", {"format": "csv"}, "unknown_format"),
        (b"{}", {"decomposition": "words"}, "unknown_decomposition"),
    ],
)
def test_files_that_cannot_be_read_are_refused_at_once(project, manager, settings, content, options, code):
    with pytest.raises(DomainError) as raised:
        import_files(by=manager, project=project, files=[("file", [content])], manner=Manner(**options))
    assert raised.value.code == code
    assert not list((settings.STATE_ROOT / "uploads").iterdir())
    assert not ImportJob.objects.exists()


def test_only_a_manager_imports(project, manager):
    reader = User.objects.create_user("reader")
    add_member(by=manager, project=project, user=reader, role="reviewer")
    with pytest.raises(Forbidden):
        import_files(by=reader, project=project, files=[("file", [b"{}"])], manner=Manner())


def test_a_file_that_went_away_fails_with_the_reason(project, tmp_path):
    path = tmp_path / "f"
    path.write_text(json.dumps(plain(1)))
    job = create_import(by=None, project=project, path=path, filename="f", manner=Manner("plain"))
    path.unlink()
    run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "f cannot be read: No such file or directory.")
    with pytest.raises(Missing):
        create_import(by=None, project=project, path=path, filename="f", manner=Manner())


def test_the_sweep_takes_up_what_nobody_works_on(project, sent):
    now, long_ago = timezone.now(), timezone.now() - timedelta(hours=1)
    ages = {("running", now): False, ("running", long_ago): True, ("queued", long_ago): True, ("done", long_ago): False}
    expected = []
    for (state, seen), stalled in ages.items():
        job = ImportJob.objects.create(project=project, filename="f", path="f", state=state, heartbeat_at=seen)
        expected += [("intake.run", job.pk)] if stalled else []
    waiting = ImportJob.objects.create(project=project, filename="f", path="f")
    assert sweep_jobs() == 2
    ImportJob.objects.filter(pk=waiting.pk).update(created_at=long_ago)
    assert sweep_jobs() == 1
    assert sweep_jobs() == 0
    assert sorted(sent) == sorted([*expected, ("intake.run", waiting.pk)])


def test_progress(project):
    now = timezone.now()
    job = ImportJob(total_bytes=1000, done_bytes=250, done_records=10, started_at=now - timedelta(seconds=10))
    assert progress_of(ImportJob(total_bytes=9)).seconds_left is None
    progress = progress_of(job)
    assert progress.share == 0.25
    assert progress.seconds_left == pytest.approx(30, rel=0.01)
    assert progress.per_second == pytest.approx(1, rel=0.01)


def test_the_command_imports_and_reports(project, tmp_path):
    file = tmp_path / "f.jsonl"
    file.write_text(json.dumps(plain(1)) + "\n" + '{"problem": 1}')
    out = io.StringIO()
    call_command("import_solutions", str(file), project="project", stdout=out)
    assert "f.jsonl (plain): 1 accepted with 0 annotations, 0 duplicates, 1 rejected." in out.getvalue()
    assert "line 2, problem: Expected a text, got a whole number" in out.getvalue()
    file.write_text(json.dumps(plain(2) | {"problem": 1}))
    with pytest.raises(CommandError, match="Every record was rejected"):
        call_command("import_solutions", str(file), project="project", stdout=out)
    with pytest.raises(CommandError, match="Choose one of: project"):
        call_command("import_solutions", str(file), project="nothing")
    with pytest.raises(CommandError, match="There is no file at"):
        call_command("import_solutions", str(tmp_path / "none"), project="project")
    table = tmp_path / "t.csv"
    table.write_text("foo,bar\n1,2\n")
    with pytest.raises(CommandError, match=r"^\S+/t\.csv: Choose the column .* pass it with --mapping\.$"):
        call_command("import_solutions", str(table), project="project")
    mapping = tmp_path / "mapping.json"
    mapping.write_text("{")
    with pytest.raises(CommandError, match=r"^\S+/mapping\.json: The mapping is invalid"):
        call_command("import_solutions", str(table), project="project", mapping=mapping)


def test_the_command_waits_for_a_file_that_a_worker_is_at(project, tmp_path, monkeypatch):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for number, file in enumerate(files):
        file.write_text(json.dumps(plain(number)))
    asked = []

    def run_beside_a_worker(job, **on_progress):
        asked.append(job)
        if job == asked[0] or asked.count(job) == 2:  # the second file is in other hands at first
            run_import(job, **on_progress)

    monkeypatch.setattr("annotation.management.commands.import_solutions.run_import", run_beside_a_worker)
    out = io.StringIO()
    call_command("import_solutions", *map(str, files), project="project", stdout=out)
    for file in files:
        assert f"{file} (plain): 1 accepted with 0 annotations, 0 duplicates, 0 rejected." in out.getvalue()
    assert len(asked) == 3


REAL_FILES = [
    "processbench/math.json",
    "prm800k/prm800k_real_records.jsonl",
    "mr-ben/coding.json",
    "big-bench-mistake/logical_deduction.jsonl",
    "agentprocessbench/hotpotqa.jsonl",
    "who-and-when/algorithm-generated/1.json",
    "codetracer/cancel-async-tasks__4gQ8rsy/agent/trajectory.json",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_FILES)
def test_real_files_twice(project, name):
    path = real_data(name)
    for expected in ("accepted", "duplicates"):
        manner = Manner(decomposition="lines")
        job = create_import(by=None, project=project, path=path, filename=path.name, manner=manner)
        run_import(job.pk)
        job.refresh_from_db()
        assert (job.state, job.rejected) == ("done", 0)
        assert getattr(job, expected) == job.done_records > 0
