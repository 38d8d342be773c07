"""The search of problems and steps: which queries find which texts."""

import pytest
from django.db import connection

from annotation.core import solution_search
from annotation.core.solution_search import matching, words_of
from annotation.files.record_import import import_records
from annotation.models import SolutionWords
from prm.formats.record import Completion, Record
from tests.factories import ProjectFactory


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"So \frac{1}{2} of 3.14", ["so", "frac", "1", "2", "of", "3", "14"]),
        ("user_name = x1-7", ["user", "name", "x1", "7"]),
        ("Die Größe des NENNERS", ["die", "größe", "des", "nenners"]),
        ("求解方程 x=2", ["求", "解", "方", "程", "x", "2"]),
        ("= + ≠", []),
        ("a" * 70, ["a" * 64, "a" * 6]),
    ],
)
def test_words_are_letters_and_digits_between_signs(text, words):
    assert words_of(text) == words


TEXTS = {
    "latex": (r"Simplify $\frac{1}{2} + 0.75$.", ["We add the fractions.", r"It is $\frac{5}{4}$, i.e. 1.25."]),
    "code": ("Rename the variable.", ["Set user_name = old_name in main.py", "Call get_user(12345)."]),
    "german": ("Wie groß ist der Hauptnenner?", ["Wir erweitern die Brüche.", "Er ist 12."]),
    "chinese": ("求解方程 x+3=5", ["移项得 x=2。"]),
}
QUERIES = {
    "fractions": "latex",
    "FRAC": "latex",
    r"\frac{1}{2}": "latex",
    r"\frac{1}{4}": "",
    "0.7": "latex",
    "add simplify": "latex",
    "add groß": "",
    '"the fractions"': "latex",
    '"fractions the"': "",
    "user_na": "code",
    "get_user(123": "code",
    "main.py": "code",
    "12": "code german",
    "12345": "code",
    "brüche": "german",
    "Haupt": "german",
    "nenner": "",  # words match from their beginning only
    "方程": "chinese",
    "程方": "",
    "x=2": "chinese",
    "=2": "chinese",
    "it's": "",
    "50%": "",
    "\\": "latex",
}


@pytest.fixture(scope="module")
def stored(module_db):
    project = ProjectFactory()
    records = [
        Record(problem=problem, positions=[[Completion(step)] for step in steps], external_id=name)
        for name, (problem, steps) in TEXTS.items()
    ]
    import_records(project=project, records=records, by=None)
    return project


@pytest.mark.django_db
@pytest.mark.parametrize("named", [0, solution_search.MOST_NAMED])
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_matches_words_of_the_problem_and_its_steps(stored, query, named, monkeypatch):
    monkeypatch.setattr(solution_search, "MOST_NAMED", named)
    matched = stored.solutions.filter(matching(query)).values_list("external_id", flat=True)
    assert sorted(matched) == QUERIES[query].split()


@pytest.mark.django_db
def test_words_are_found_by_the_index(stored):
    assert SolutionWords.objects.filter(solution__project=stored).count() == len(TEXTS)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT FROM annotation_solutionwords WHERE words @@ '''fractions'':*'::tsquery")
        assert "solution_by_words" in str(cursor.fetchall())
