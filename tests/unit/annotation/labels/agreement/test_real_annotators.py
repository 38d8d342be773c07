"""The agreement of twenty real annotators, imported as people, against one computed from their files alone."""

import json
from collections import Counter, defaultdict
from itertools import combinations, permutations
from pathlib import Path

import pytest
from django.test import Client

from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, create_import
from annotation.labels.agreement.cube import Compared, Cube
from annotation.models import ImportOptions
from tests.factories import MembershipFactory, ProjectFactory
from tests.real_data import real_data

pytestmark = pytest.mark.django_db
RUNS, RATERS = 12, 20


@pytest.mark.slow
def test_alpha_and_kappa_are_those_of_the_files(tmp_path: Path, client: Client):
    runs = [json.loads(line) for line in real_data("agentprocessbench/hotpotqa.jsonl").read_text().splitlines()[:RUNS]]
    messages = {(run["query_index"], run["sample_index"]): run["messages"] for run in runs}
    ratings: dict[tuple, dict[str, int]] = defaultdict(dict)  # of each step, by annotator
    lines = []
    for file in sorted(real_data("agentprocessbench/annotators").iterdir()):
        for label in map(json.loads, file.read_text().splitlines()):
            if (run := (label["query_index"], label["sample_index"])) in messages:
                lines.append({"messages": messages[run], "annotator": file.stem, "step_labels": label["step_labels"]})
                for step, rating in label["step_labels"].items():
                    if rating is not None:
                        ratings[*run, step][file.stem] = rating
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    project = ProjectFactory()
    manner = Manner("messages", "blank_lines", ImportOptions())
    run_import(create_import(by=None, project=project, path=file, filename=file.name, manner=manner).pk)
    cube = Cube(project, Compared())
    assert len(cube.solutions) == RUNS
    assert len(cube.raters) == RATERS
    [nominal], [ordinal] = cube.cells("steps_alpha"), cube.cells("steps_ordinal_alpha")
    assert nominal.value == pytest.approx(alpha(ratings, lambda one, other, _of: one != other))
    assert ordinal.value == pytest.approx(alpha(ratings, ordinal_distance))
    kappas = {frozenset(cell.row.split(" ")): cell.value for cell in cube.cells("steps_kappa", "pair")}
    keys = {rater.name.removesuffix(" (from a file)"): rater.key for rater in cube.raters.values()}
    assert len(kappas) == RATERS * (RATERS - 1) / 2
    for one, other in combinations(keys, 2):
        assert kappas[frozenset({keys[one], keys[other]})] == pytest.approx(kappa(ratings, one, other), nan_ok=True)
    client.force_login(MembershipFactory(project=project, role="manager").user)
    page = client.get(f"/p/{project.slug}/quality/agreement/?measure=steps_ordinal_alpha").content.decode()
    assert f'<dd class="value">{ordinal.value:.2f}</dd>' in page


def alpha(ratings, distance):
    """Krippendorff's alpha by its definition: pairs within units against pairs of all values."""
    units = [list(of.values()) for of in ratings.values() if len(of) > 1]
    counts = Counter(value for unit in units for value in unit)
    n = counts.total()
    observed = sum(
        distance(one, other, counts) / (len(unit) - 1) for unit in units for one, other in permutations(unit, 2)
    )
    expected = sum(counts[one] * counts[other] * distance(one, other, counts) for one, other in permutations(counts, 2))
    return 1 - (n - 1) * observed / expected


def ordinal_distance(one, other, counts):
    low, high = sorted((one, other))
    between = sum(n for value, n in counts.items() if low <= value <= high)
    return (between - (counts[one] + counts[other]) / 2) ** 2


def kappa(ratings, one, other):
    pairs = [(of[one], of[other]) for of in ratings.values() if one in of and other in of]
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[value] * second[value] for value in first) / len(pairs) ** 2
    return (sum(a == b for a, b in pairs) / len(pairs) - expected) / (1 - expected) if expected < 1 else None
