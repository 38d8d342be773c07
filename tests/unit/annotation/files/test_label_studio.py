"""A Label Studio project comes over: `label_studio_export.json` is a real export (1.23.2) of a project of our own."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.core.membership.members import add_member
from annotation.models import Annotation, AuditEntry, Solution, StepRating
from prm.formats.label_studio import Submission, Task, answers_of, propose, read_config

EXPORT = Path(__file__).parent / "label_studio_export.json"
CONFIG = """<View>
  <Header value="Problem"/><Text name="problem" value="$problem"/>
  <Repeater on="$steps" indexFlag="{{idx}}">
    <Text name="step_{{idx}}" value="$steps[{{idx}}].text"/>
    <Choices name="rating_{{idx}}" toName="step_{{idx}}">
      <Choice value="Good"/><Choice value="Neutral"/><Choice value="Bad"/><Choice value="Not sure"/>
    </Choices>
    <TextArea name="why_{{idx}}" toName="step_{{idx}}"/>
    <Rating name="clarity_{{idx}}" toName="step_{{idx}}" maxRating="5"/>
  </Repeater>
  <Choices name="overall" toName="problem"><Choice value="Finished"/><Choice value="Gave up"/></Choices>
</View>"""


@pytest.fixture
def said(project, capsys, tmp_path):
    def run(export=EXPORT, **options):
        call_command("import_label_studio", str(export), project="project", **options)
        return capsys.readouterr().out

    return run


def words():
    rows = StepRating.objects.order_by("annotation__solution__external_id", "annotation_id", "step__position")
    return list(rows.values_list("annotation__solution__external_id", "annotation__source__kind", "state", "rating"))


def test_tasks_people_and_ratings_come_over_and_every_loss_has_its_line(said, project):
    told = said()
    assert words() == [
        *[("sol-2", "human", "rated", 1)] * 3,
        ("sol-2", "human", "rated", 1), ("sol-2", "human", "rated", 0), ("sol-2", "human", "unsure", None),
        ("sol-2", "model_judge", "rated", 1), ("sol-2", "model_judge", "rated", 1),
        ("sol-2", "model_judge", "rated", -1),
        ("sol-4", "human", "rated", 1), ("sol-4", "human", "rated", -1),
    ]  # fmt: skip
    for line in (
        "task 3: accepted",
        "skipped the task",
        "draft 1: was never submitted",
        "4 tasks accepted with 4 annotations, 0 duplicates, 0 rejected; 2 things not moved.",
    ):
        assert line in told
    wrong = Annotation.objects.get(solution__external_id="sol-4")
    assert (wrong.first_error, wrong.total_ms, wrong.finish_reason) == (1, 22250, "found_error")
    assert wrong.ratings.get(rating=-1).comment == "4 + 3 is 7"
    assert wrong.native == {"label_studio": {"annotation": 2}}
    first = Annotation.objects.get(native__label_studio__annotation=1)
    assert first.ratings.get(step__position=1).dimensions == {"clarity": 4}
    assert first.native["other"] == {"overall": "Finished"}
    names = set(Annotation.objects.filter(source__kind="human").values_list("annotator__name_in_file", flat=True))
    assert len(names) == 2
    assert all(name.startswith("label-studio-") and "example" not in name for name in names)
    one = Solution.objects.get(external_id="sol-2")
    assert (one.problem.reference_answer, one.generator, one.extra["label_studio"]["task"]) == ("5", "writer-1", 1)
    assert AuditEntry.objects.get(action="project.move").after["annotations"] == 4


def test_a_second_run_adds_nothing(said, tmp_path):
    said()
    packed = tmp_path / "export.json.gz"
    packed.write_bytes(gzip.compress(EXPORT.read_bytes()))
    again = said(packed)
    assert "0 tasks accepted with 0 annotations, 4 duplicates" in again
    assert Annotation.objects.count() == 4


def test_people_become_members_by_their_address(said, project, manager):
    sam = User.objects.create_user("sam", email="Second@example.org")
    member = add_member(by=manager, project=project, user=sam, role="annotator")
    said(members=True, person=["2=second@example.org"])
    assert Annotation.objects.get(annotator=member).native["label_studio"] == {"annotation": 4}
    assert Annotation.objects.filter(source__kind="human", annotator__user=None).count() == 2


def test_the_config_and_the_tasks_propose_the_same_names(said):
    tasks = msgspec.json.decode(EXPORT.read_bytes(), type=list[Task])
    for task in tasks:
        task.annotations = [Submission(result=[]) for _ in task.annotations]
    bare = propose(tasks, read_config(CONFIG))
    assert (bare.problem, bare.steps, bare.step_text) == ("problem", "steps", "text")
    assert (bare.rating, bare.comment, bare.dimensions, bare.first) == ("rating_{}", "why_{}", ["clarity_{}"], 0)
    assert bare.words == {"good": "good", "neutral": "neutral", "bad": "bad", "not sure": "unsure"}
    told = said(dry_run=True)
    assert "rating: rating_{}" in told
    assert "bad = bad" in told
    assert not Solution.objects.exists()


def test_names_can_be_corrected(said):
    told = said(word=["bad=neutral", "not sure=bad"], rating="clarity_{}")
    assert "clarity_1: the value '4' has no meaning; add it to `words`" in told
    assert not StepRating.objects.exists()
    said(word=["good=bad"])
    assert StepRating.objects.filter(rating=-1).count() == 9
    with pytest.raises(CommandError, match="WORD=MEANING"):
        said(word=["good=great"])


def test_controls_counted_from_one_and_regions_over_utterances():
    choice = {"type": "choices", "to_name": "x"}
    results = [
        {"from_name": f"step{n}_ok", "value": {"choices": [word]}, **choice} for n, word in ((1, "Yes"), (2, "No"))
    ]
    task = Task({"question": "q", "turns": ["a", "b"]}, [_submission(results)])
    names = propose([task], None)
    assert (names.problem, names.steps, names.rating, names.first) == ("question", "turns", "step{}_ok", 1)
    region = {"from_name": "label", "type": "paragraphlabels", "value": {"start": "1", "end": "1"}}
    region["value"]["paragraphlabels"] = ["Wrong"]
    assert answers_of(_submission([region])).values == {"label_1": ["Wrong"]}
    wide = region | {"value": region["value"] | {"end": "2"}}
    assert answers_of(_submission([wide, {"type": "brushlabels", "from_name": "b"}])).left == [
        "label: a region over several steps",
        "b: results of type 'brushlabels' are not read",
    ]


def test_a_partly_rated_task_is_never_one_without_an_error(said, tmp_path):
    tasks = json.loads(EXPORT.read_text())
    for annotation in tasks[0]["annotations"]:
        annotation["result"] = [one for one in annotation["result"] if one["from_name"] in ("rating_0", "rating_1")]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(tasks[:1]))
    assert "1 of 3 steps are not rated, so the first error is not known" in said(file)
    labels = Annotation.objects.filter(source__kind="human")
    assert {(label.finish_reason, label.first_error) for label in labels} == {("give_up", None)}


def _submission(results):
    return msgspec.convert({"result": results}, Submission)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[]", "The export has no tasks"),
        (b'[{"id": 1, "problem": "p", "rating_0": "Good", "annotator": 2}]', "not as JSON_MIN"),
        (b"\x89PNG", "The export has no tasks"),
    ],
)
def test_what_is_no_export_is_said(project, tmp_path, content, said):
    file = tmp_path / "export.json"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=said):
        call_command("import_label_studio", str(file), project="project")


def test_a_task_without_steps_is_rejected_and_the_rest_comes(said, tmp_path):
    tasks = json.loads(EXPORT.read_text())
    tasks[1]["data"] = {"problem": "p"}
    tasks[2]["data"]["steps"][1] = {"words": "x"}
    file = tmp_path / "export.json"
    file.write_text(json.dumps([*tasks, {"id": 9}]))
    told = said(file)
    assert "task 2: rejected, 0 annotations\n  not moved: its data has no list 'steps' of steps" in told
    assert "task 3: rejected, 0 annotations\n  not moved: step 1 has no text 'text'" in told
    assert "record 5: rejected" in told
    assert "2 tasks accepted" in told


@pytest.mark.parametrize("xml", ["<View>", '<!DOCTYPE v [<!ENTITY a "b">]><View>&a;</View>', ""])
def test_a_hostile_config_is_refused(xml):
    with pytest.raises(ValueError, match="cannot be read"):
        read_config(xml)
