"""A Potato project comes over: `potato_project` was labelled on a real server (2.12.1), its texts are our own."""

import json
import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.core.membership.members import add_member
from annotation.models import Annotation, Solution, StepRating
from prm.formats.potato import Project, answers_of, propose, read_annotators

FOLDER = Path(__file__).parent / "potato_project"


@pytest.fixture
def said(project, capsys):
    def run(folder=FOLDER, **options):
        call_command("import_potato", str(folder), project="project", **options)
        return capsys.readouterr().out

    return run


@pytest.fixture
def copied(tmp_path):
    return Path(shutil.copytree(FOLDER, tmp_path / "project"))


def ratings(task):
    rows = StepRating.objects.filter(annotation__solution__external_id=task).order_by("annotation", "step__position")
    return list(rows.values_list("rating", flat=True))


def test_tasks_people_and_ratings_come_over_once(said):
    told = said()
    assert "3 tasks accepted with 4 annotations, 0 duplicates, 0 rejected; 0 things not moved." in told
    assert ratings("sol-1") == [1, 1, 1, 1, 0, 1]
    assert ratings("sol-2") == [1, -1]
    wrong = Annotation.objects.get(solution__external_id="sol-2")
    assert (wrong.first_error, wrong.finish_reason, wrong.comment) == (1, "found_error", "5 * 8 is 40")
    assert wrong.annotator.name_in_file.startswith("potato-")
    assert Annotation.objects.get(solution__external_id="sol-3").finish_reason == "give_up"
    one = Solution.objects.get(external_id="sol-2")
    assert (one.problem.reference_answer, one.generator) == ("40", "writer-1")
    assert (one.final_answer_correct, one.outcome_source) == (False, "grader")
    assert "0 tasks accepted with 0 annotations, 3 duplicates" in said()
    assert Annotation.objects.count() == 4


def test_members_are_known_by_the_address_they_signed_in_with(said, project, manager):
    ana = User.objects.create_user("ana", email="ana@example.org")
    member = add_member(by=manager, project=project, user=ana, role="annotator")
    said(members=True)
    assert Annotation.objects.filter(annotator=member).count() == 3


def test_what_stays_behind_has_its_line(said, copied):
    (copied / "data/solutions.jsonl").open("a").write('{"id": "sol-4"}\n{broken\n"text"\n')
    state = copied / "annotation_output/bo@example.org/user_state.json"
    value = json.loads(state.read_text())
    blob = {"steps": [{"index": 0, "reward": 1}], "mode": "per_step"}
    label = [{"schema": "step_rewards", "name": "_data"}, json.dumps(blob)]
    value["instance_id_to_label_to_value"] = {"sol-1": [label], "sol-9": [label]}
    state.write_text(json.dumps(value))
    told = said(copied)
    for line in (
        "step_rewards: it has 1 step where the task has 3",
        "task sol-4: rejected",
        "solutions.jsonl, line 5: rejected, 0 annotations\n  not moved: not valid JSON",
        "task sol-9: rejected, 0 annotations\n  not moved: is labelled by 1, but is in none of the data files",
    ):
        assert line in told


def test_a_program_that_labelled_is_a_judge(said, copied):
    state = copied / "annotation_output/bo@example.org/user_state.json"
    state.write_text(state.read_text().replace('"origin": {}', '"origin": {"kind": "llm"}'))
    said(copied)
    judged = Annotation.objects.get(source__kind="model_judge")
    assert judged.source.name == "bo@example.org"


def test_the_older_layout_of_one_file_a_person(said, copied):
    shutil.rmtree(copied / "annotation_output")
    person = copied / "annotation_output/carl"
    person.mkdir(parents=True)
    blob = {"steps": [{"index": k, "reward": reward} for k, reward in enumerate((1, -1, -1))], "mode": "first_error"}
    line = {"id": "sol-2", "label_annotations": {"step_rewards": {"_data": json.dumps(blob)}}}
    (person / "annotated_instances.jsonl").write_text(json.dumps(line) + "\n")
    said(copied)
    assert ratings("sol-2") == [1, -1], "what follows the first error was marked by the program"


def test_schemes_of_one_step_each_and_rows_of_a_multirate():
    step = {"annotation_type": "radio", "labels": ["Correct", {"name": "Wrong"}]}
    schemes = {f"step_{n}": step | {"name": f"step_{n}"} for n in (1, 2)}
    project = Project([], Path(), "id", "question", schemes)
    names = propose(project, {"id": 1, "question": "q", "steps": ["a", "b"]})
    assert (names.rating, names.first, names.problem, names.steps) == ("step_{}", 1, "question", "steps")
    assert names.words == {"correct": "good", "wrong": "bad"}
    said = answers_of(project, [("step_1", "Correct", "true"), ("step_2", "Wrong", True)], 2)
    assert said.values == {"step_1": ["Correct"], "step_2": ["Wrong"]}
    rows = {"annotation_type": "multirate", "options": ["Step 0", "Step 1"], "labels": ["good", "bad"], "name": "r"}
    project = Project([], Path(), "id", "question", {"r": rows})
    assert propose(project, {"question": "q", "steps": ["a", "b"]}).rating == "r: Step {}"
    assert answers_of(project, [("r", "Step 1", "bad")], 2).values == {"r: Step 1": ["bad"]}


def test_a_partly_rated_task_is_never_one_without_an_error(said, copied):
    shutil.rmtree(copied / "annotation_output")
    person = copied / "annotation_output/carl"
    person.mkdir(parents=True)
    blob = {"steps": [{"index": 0, "reward": 1}, *({"index": k, "reward": None} for k in (1, 2))], "mode": "per_step"}
    line = {"id": "sol-2", "label_annotations": {"step_rewards": {"_data": json.dumps(blob)}}}
    (person / "annotated_instances.jsonl").write_text(json.dumps(line) + "\n")
    said(copied)
    label = Annotation.objects.get()
    assert (label.finish_reason, label.first_error, ratings("sol-2")) == ("give_up", None, [1])


def test_unmarked_steps_are_not_neutral_unless_the_scheme_has_neutral():
    def words(**scheme):
        of = {"annotation_type": "process_reward", "name": "r", **scheme}
        blob = {"steps": [{"index": 0, "reward": 1}, {"index": 1, "reward": 0}], "mode": "per_step"}
        return answers_of(Project([], Path(), "id", "t", {"r": of}), [("r", "_data", json.dumps(blob))], 2).values

    assert words(allow_neutral=True) == {"r_0": ["1"], "r_1": ["0"]}
    assert words() == {"r_0": ["1"]}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("a: [", "config.yaml cannot be read"),
        ("!!python/object/apply:os.system [ls]", "config.yaml cannot be read"),
        ("- 1", "not a Potato config"),
        ("item_properties: {id_key: id}", "data files in the config have no tasks"),
        ("item_properties: {id_key: id}\ndata_files: [none.jsonl]", "cannot be read: No such file"),
    ],
)
def test_a_folder_that_is_no_project_is_said(project, tmp_path, config, said):
    (tmp_path / "config.yaml").write_text(config)
    with pytest.raises(CommandError, match=said):
        call_command("import_potato", str(tmp_path), project="project")


def test_a_blank_line_of_an_annotator_is_skipped(tmp_path):
    (tmp_path / "ann").mkdir()
    line = b'{"id": "1", "label_annotations": {"rating_0": {"good": "true"}}}\n'
    (tmp_path / "ann" / "annotated_instances.jsonl").write_bytes(line + b"\n")
    [annotator] = read_annotators(tmp_path)
    assert annotator.labels == {"1": [("rating_0", "good", "true")]}
