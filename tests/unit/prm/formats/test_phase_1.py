"""PRM800K's phase 1: its files say what a project that chooses the path allows, and come back as they were."""

import io
import uuid

from annotation.models import LabelScheme
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.scheme_check import check
from prm.formats import table
from prm.formats.path import taken_path
from prm.formats.prm800k import prm800k
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from tests.real_data import real_data

PHASE_1 = LabelScheme(choose_path=True, ask_own_step=True)


def as_submission(record, annotation):
    """The label of a record as a person would hand it in; a completion's id tells its place."""
    path = [
        GivenPosition(
            position=place.position,
            chosen=None if place.chosen is None else 100 * place.position + place.chosen,
            own_text=place.own_text,
            ratings=[
                GivenRating(step=100 * place.position + one.alternative, state=one.state, rating=one.rating)
                for one in place.ratings
            ],
        )
        for place in annotation.path
        if place.ratings or place.own_text  # a position that was come to, and nothing sampled for it, is none here
    ]
    positions = [
        {100 * position + alternative: alternative for alternative in range(len(at))}
        for position, at in enumerate(record.positions)
    ]
    finish = annotation.finish_reason
    reason = "not said" if finish in ("give_up", "bad_problem") else ""
    submission = Submission(uuid.uuid4(), solution=1, finish_reason=finish, path=path, reason=reason)
    return submission, positions


def said(record):
    """The path in texts, with every rating at each position."""
    [label] = record.annotations
    texts = [
        [(record.positions[place.position][one.alternative].text, one.state, one.rating) for one in place.ratings]
        for place in label.path
    ]
    way = [
        step.own_text or record.positions[step.position][step.alternative].text
        for step in taken_path(label.finish_reason, label.path)
    ]
    return way, texts, label.finish_reason, label.first_error, label.total_ms


def test_what_the_real_labels_of_phase_1_say_is_allowed_here():
    with real_data("prm800k/prm800k_real_records.jsonl").open("rb") as file:
        records = [record for _, record in prm800k.read(file)]
    phase_1 = [record for record in records if "pre_generated_steps" not in record.annotations[0].native["question"]]
    assert len(phase_1) >= 4
    for record in phase_1:
        [annotation] = record.annotations
        submission, positions = as_submission(record, annotation)
        assert check(submission, positions, PHASE_1) == annotation.first_error


def test_a_path_that_was_chosen_here_comes_back_from_prm800k():
    positions = [["We add."], ["2 + 2 = 5.", "2 + 2 = 4."], ["So 5.", "So 6."], ["Never shown."]]
    label = RecordAnnotation(
        "human",
        "solution",
        [
            PathPosition(0, chosen=0, ratings=[Rating(0, "rated", 1, False)]),
            PathPosition(1, chosen=1, ratings=[Rating(0, "rated", -1, False), Rating(1, "rated", 0, False)]),
            PathPosition(2, own_text="So 4.", ratings=[Rating(0, "rated", -1, False), Rating(1, "rated", -1, False)]),
        ],
        annotator=str(uuid.uuid4()),
        first_error=-1,
        total_ms=9000,
    )
    record = Record(problem="p", positions=[[Completion(text) for text in at] for at in positions], annotations=[label])
    [(_, again)] = prm800k.read(io.BytesIO(b"".join(prm800k.write([record]))))
    assert said(again) == said(record)
    assert said(again)[0] == ["We add.", "2 + 2 = 4.", "So 4."]


def test_a_table_follows_the_path_that_was_chosen():
    """The sampled first step was wrong and another chosen, the second is the person's own: nobody found an error."""
    path = [
        PathPosition(0, chosen=1, ratings=[Rating(0, "rated", rating=-1), Rating(1, "rated", rating=1)]),
        PathPosition(1, own_text="so x = 2", ratings=[Rating(0, "rated", rating=-1)]),
        PathPosition(2, chosen=1, ratings=[Rating(1, "rated", rating=0)]),
    ]
    positions = [[Completion("sampled"), Completion(text)] for text in ("chosen", "not this", "end")]
    label = RecordAnnotation("human", "solution", path, source_name="ann", first_error=-1)
    written = b"".join(table.CSV.write([Record("p", positions, annotations=[label])]))
    (_, back), *rest = table.read(io.BytesIO(written))
    assert not rest
    assert [at[0].text for at in back.positions] == ["chosen", "so x = 2", "end"]
    [told] = back.annotations
    assert [step.rating and step.rating.rating for step in taken_path(told.finish_reason, told.path)] == [1, None, 0]
    assert told.first_error is None, "a step of one's own has no rating in a table"
