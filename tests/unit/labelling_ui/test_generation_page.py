"""The page of one generation: lanes with their chances, and every item, listed and downloaded."""

import csv
import io
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Generation, Project, QueueItem
from annotation.models.generation import LaneRecipe, Recipe
from prm.acquisition import CostModel
from prm.answers.noise import AnswerNoise
from tests.factories import QueueItemFactory, SolutionFactory


@pytest.fixture
def generation(project: Project) -> Generation:
    """Of three control items, one was ranked instead."""
    found = project.generations.get()
    ranked = LaneRecipe(
        from_=2000, drawn=1, how="ranked", max_per_problem=1, max_domain_share=0.5, without_outcome=1500,
        cost=CostModel(8.0, 1.5, 0.05), noise=AnswerNoise(0.125, 0.02),
    )  # fmt: skip
    drawn = LaneRecipe(from_=40, drawn=2, how="at random")
    found.recipe = Recipe({"acquisition": ranked, "control": drawn})
    found.save()
    last = found.items.order_by("rank").last()
    found.items.update(inclusion_probability=0.05)
    QueueItem.objects.filter(pk=last.pk).update(
        lane="acquisition", gain=0.25, expected_seconds=42.0, inclusion_probability=0.0003
    )
    return found


@pytest.fixture
def page(client: Client, people: dict[str, User], generation: Generation) -> str:
    client.force_login(people["reviewer"])
    return client.get("/p/algebra/generations/0/").content.decode()


def test_it_says_how_each_lane_was_drawn(page: str) -> None:
    for told in ("ranked from 2,000", "at random from 40", "67\xa0%", "0.03\xa0%", "5.00\xa0%", "0.250", "42 s"):
        assert told in page
    for told in (
        "limit per domain: 50\xa0%",
        "8.0 s, plus 1.5 s per step and 5.0 s per 100 characters",
        "1,500",
        "despite an error: 12.5\xa0%",
    ):
        assert told in page


def test_it_shows_the_spread_of_the_chances(page: str) -> None:
    assert "Inclusion probability" in page
    for chance in ("≤ 0.1\xa0%", "3–10\xa0%", "30–100\xa0%"):
        assert chance in page


def test_every_item_downloads_with_gain_cost_and_chance(
    client: Client, people: dict[str, User], generation: Generation
) -> None:
    client.force_login(people["reviewer"])
    answer = client.get("/p/algebra/generations/0/?lane=acquisition&download=csv")
    [row] = csv.DictReader(io.StringIO(b"".join(answer).decode()))
    assert (row["lane"], row["gain"], row["seconds"], row["inclusion_probability"]) == (
        "acquisition",
        "0.25",
        "42.0",
        "0.0003",
    )
    everything = client.get("/p/algebra/generations/0/?download=csv")
    assert len(list(csv.DictReader(io.StringIO(b"".join(everything).decode())))) == 3


def test_an_empty_filter_and_an_unknown_generation_say_so(
    client: Client, people: dict[str, User], generation: Generation
) -> None:
    client.force_login(people["manager"])
    assert "No item matches" in client.get("/p/algebra/generations/0/?lane=gold").content.decode()
    assert client.get("/p/algebra/generations/7/").status_code == 404
    client.force_login(people["annotator"])
    assert client.get("/p/algebra/generations/0/").status_code == 403


def test_hidden_gold_changes_neither_the_shares_nor_the_progress(
    client: Client, people: dict[str, User], generation: Generation, page: str
) -> None:
    shown = lanes(page), wanted(client)
    QueueItemFactory(
        generation=generation, solution=SolutionFactory(project=generation.project), lane="gold", wanted=3, done=2
    )
    assert (lanes(client.get("/p/algebra/generations/0/").content.decode()), wanted(client)) == shown


def lanes(page: str) -> str:
    """The table of lanes."""
    return page.partition("<table")[2].partition("</table>")[0]


def wanted(client: Client) -> str:
    """The number of labels that the overview shows as needed in the open generation."""
    [shown] = re.findall(r"<small>/ (\d+)</small>", client.get("/p/algebra/").content.decode())
    return shown
