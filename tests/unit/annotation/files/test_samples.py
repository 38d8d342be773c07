"""Equal samples are one solution that counts its samples; a file imported again adds nothing."""

import io
import json

import pytest

from annotation.files import chunks
from annotation.files.posting import post_solutions
from annotation.files.record_import import import_records
from annotation.files.store import store_chunk
from annotation.files.warnings import warnings_in_words
from annotation.labels.datasets.reading import read_solutions
from annotation.models import Problem, Solution
from prm.evaluation.best_of_n import best_of_n
from prm.formats.best_of_n import best_of_n as pool_format
from prm.formats.plain import plain
from prm.formats.record import Completion, Record
from prm.formats.record_traces import trace_from_file
from prm.formats.records import records
from prm.scores import TraceScore

pytestmark = pytest.mark.django_db


def sample(text, *, n=0, **fields):
    return {"problem": f"p{n}", "steps": [text], **fields}


def multiplicities():
    steps = Solution.objects.order_by("pk").values_list("steps__text", "multiplicity")
    return dict(steps)


def test_equal_samples_of_a_file_are_counted_also_across_chunks(import_content, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 2)
    content = [sample("a"), sample("b"), sample("a"), sample("c", n=1), sample("a"), sample("c", n=2)]
    job = import_content(content)
    assert (job.accepted, job.duplicates) == (4, 2)
    assert multiplicities() == {"a": 3, "b": 1, "c": 1}
    assert "2 solutions equal earlier ones in this file" in " ".join(map(str, warnings_in_words(job.warnings)))


def test_importing_a_file_again_or_a_longer_one_counts_nothing_twice(import_content):
    content = [sample("a"), sample("a")]
    import_content(content)
    import_content([*content, sample("a"), sample("b"), sample("b")])
    assert multiplicities() == {"a": 2, "b": 2}


def test_a_line_with_the_same_id_or_a_label_is_no_further_sample(import_content):
    import_content([sample("a", id="1"), sample("a", id="1"), sample("a", id="2")])
    labelled = [sample("b", label=label, annotator=name) for label, name in ((0, "x"), (-1, "y"))]
    import_content(labelled)
    assert multiplicities() == {"a": 2, "b": 1}


def test_what_a_policy_samples_again_is_a_further_sample(project):
    records = [Record("p", [[Completion("a")]], external_id=f"run-{n}") for n in range(2)]
    store_chunk(project=project, records=records, are_samples=True)
    assert multiplicities() == {"a": 2}
    store_chunk(project=project, records=[Record("p", [[Completion("a")]])], are_samples=True)
    assert multiplicities() == {"a": 3}


def test_equal_posted_solutions_count_and_posting_them_again_does_not(project, manager):
    def post():
        content = b"\n".join(json.dumps(sample("a", id=name)).encode() for name in ("1", "2"))
        return post_solutions(by=manager, project=project, content=io.BytesIO(content))

    assert [answer.state for answer in post()] == ["accepted", "duplicate"]
    assert [answer.state for answer in post()] == ["duplicate", "duplicate"]
    assert multiplicities() == {"a": 2}


@pytest.mark.parametrize("format", [records, plain], ids=lambda format: format.name)
def test_a_stated_multiplicity_is_kept_on_the_way_through_a_file(format, import_content, project, manager):
    import_content([sample("a", multiplicity=3), sample("b"), sample("b")])
    keys = list(Solution.objects.order_by("pk").values_list("pk", flat=True))
    stored = [solution.record for solution in read_solutions(keys, batches_set_aside=True)]
    assert [record.multiplicity for record in stored] == [3, 2]
    again = [record for _, record in format.read(io.BytesIO(b"".join(format.write(stored))))]
    assert [record.multiplicity for record in again] == [3, 2]
    Solution.objects.all().delete()
    import_records(project=project, records=again, by=manager)
    import_records(project=project, records=again, by=manager)
    assert multiplicities() == {"a": 3, "b": 2}


@pytest.mark.parametrize("multiplicity", [0, -1, 1.5, "2"])
def test_a_multiplicity_that_counts_nothing_is_refused(import_content, multiplicity):
    job = import_content([sample("a", multiplicity=multiplicity)])
    assert [row.field for row in job.rejections.all()] == ["multiplicity"]


def test_best_of_n_counts_equal_samples():
    def measured(multiplicity, copies):
        records = [
            Record("p", [[Completion(text)]], external_id=f"{text}{n}", final_answer=text, final_answer_correct=right)
            for text, right, count in (("1", True, 1), ("2", False, copies))
            for n in range(count)
        ]
        records[1].multiplicity = multiplicity
        traces = [trace_from_file(record, name="t", split="holdout") for record in records]
        scores = [TraceScore(trace.id, [[0.5]], [0.5], [None], None) for trace in traces]
        return best_of_n(traces, scores, bootstrap=10)

    assert measured(3, 1) == measured(1, 3)
    assert measured(3, 1).n_candidates == 4


def test_the_best_of_n_format_states_the_number_of_equal_solutions():
    record = Record("p", [[Completion("a")]], multiplicity=4)
    content = b"".join(pool_format.write([record]))
    [(_, again)] = pool_format.read(io.BytesIO(content))
    assert again.multiplicity == 4


def test_problems_of_other_solutions_are_not_counted(import_content):
    import_content([sample("a"), sample("a", n=1)])
    assert Problem.objects.count() == 2
    assert set(Solution.objects.values_list("multiplicity", flat=True)) == {1}
