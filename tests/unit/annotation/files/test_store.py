"""How a chunk finds what is stored already."""

import re

import pytest
from django.db import connection

from annotation.files.store import PROBLEMS, SOLUTIONS, begin_storing, store_chunk
from annotation.models import Solution, Step
from prm.formats.record import Completion, Record
from tests.factories import ProblemFactory, ProjectFactory, SolutionFactory

LOOKUPS = {
    "problem_once_per_project": (PROBLEMS, {"hashes": "'a b'", "project": "1"}, "text_hash = hash.hash"),
    "solution_once_per_problem": (
        SOLUTIONS,
        {"problems": "'{1,2}'", "hashes": "'{a,b}'"},
        "problem_id = wanted.problem AND content_hash = wanted.hash",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("is_analysed", [False, True])
@pytest.mark.parametrize("index", LOOKUPS)
def test_a_plan_for_small_tables_looks_each_row_up_by_its_hash(index, is_analysed):
    """It is used until the tables are analysed, for large ones too, and must not read the project for every chunk."""
    statement, values, condition = LOOKUPS[index]
    problem = ProblemFactory()
    SolutionFactory.create_batch(20, problem=problem)
    with connection.cursor() as cursor:
        if is_analysed:
            cursor.execute("ANALYZE annotation_problem, annotation_solution")
        begin_storing(problem.project)
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE lookup AS {statement % {name: f'${n}' for n, name in enumerate(values, start=1)}}")
        cursor.execute(f"EXPLAIN EXECUTE lookup ({', '.join(values.values())})")
        plan = "\n".join(re.sub(r"::text|[()]", "", row) for (row,) in cursor.fetchall())
        cursor.execute("DEALLOCATE lookup")
    assert re.findall(r"Index Scan (?:using|on) (\w+)", plan) == [index]
    assert "Seq Scan" not in plan
    assert f"Index Cond: {condition}\n" in plan + "\n"


@pytest.mark.django_db
def test_a_chunk_fetches_the_keys_that_it_needs_in_one_round_trip(django_assert_max_num_queries):
    """Also if the chunk repeats solutions, and if the project has some of them already."""
    project = ProjectFactory()
    records = [
        Record(f"problem {'i' * (number % 3)}", [[Completion(f"step {number} {place}")] for place in range(300)])
        for number in [*range(4), *range(5)]
    ]
    for count, added in ((4, 4), (9, 1)):
        with django_assert_max_num_queries(20) as queries:
            store_chunk(project=project, records=records[:count])
        assert len([query for query in queries if "nextval" in query["sql"]]) == 1
        for model, most in ((Solution, added), (Step, 300 * added)):
            keys = sorted(model.objects.values_list("pk", flat=True))[-most:]
            assert keys == list(range(keys[0], keys[0] + most))
