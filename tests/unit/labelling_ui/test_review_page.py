"""The review pages: labels side by side, decided by one button, or sent back with a reason."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.consensus.fits import consensus_on, fit_for, scope_of
from annotation.labels.consensus.review_queue import to_review
from annotation.models import Annotation, Critique, Lease, Project, SentBack, Solution
from annotation.models.scheme import DEFAULT_KEYS, LabelScheme
from labelling_ui.pages.review_keys import keys_of
from tests.factories import AnnotationFactory, MembershipFactory


@pytest.fixture
def reviewer(client: Client, people: dict[str, User]) -> Client:
    client.force_login(people["reviewer"])
    return client


@pytest.fixture
def split(project: Project) -> Solution:
    """Two people who disagree on the first step."""
    solution = to_review(project, "disagreement").first()
    assert solution is not None
    return solution


def form(client: Client, solution: Solution) -> dict[str, str]:
    """What the page's form sends with each decision."""
    shown = client.get(f"/p/algebra/review/{solution.pk}/").content.decode()
    return dict(re.findall(r'<input type="hidden" name="(seen|stops|submission_id)" value="([^"]+)">', shown))


def test_disagreements_come_first_with_what_each_said(reviewer: Client, split: Solution, project: Project) -> None:
    shown = reviewer.get("/p/algebra/review/").content.decode()
    rows = re.findall(r"/p/algebra/review/(\d+)/\"", shown)
    assert int(rows[0]) == split.pk
    assert "disagreement" in shown
    assert "reference disputed" in shown
    only = reviewer.get("/p/algebra/review/?reason=dispute").content.decode()
    assert "reference disputed" in only
    assert 'aria-current="page">Disputed references <b>1</b>' in only


def test_the_list_does_not_say_whose_label_is_whose(reviewer: Client, split: Solution) -> None:
    names = {label.annotator.user.username for label in split.annotations.exclude(annotator=None)}
    assert names
    for address in ("/p/algebra/review/", "/p/algebra/review/?download=csv"):
        listed = b"".join(reviewer.get(address)).decode()
        assert str(split.pk) in listed
        assert not [name for name in names if f"{name}:" in listed]


def test_one_button_decides_and_the_next_one_comes(reviewer: Client, split: Solution, project: Project) -> None:
    label = split.annotations.order_by("pk").first()
    posted = form(reviewer, split) | {"accepts": str(label.pk)}
    answer = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted, follow=True)
    decided = Annotation.objects.get(adjudicates=True)
    assert (decided.solution, decided.first_error) == (split, label.first_error)
    told = answer.content.decode()
    assert f"Solution {split.pk} is decided" in told
    assert "Change the decision" in told
    assert answer.redirect_chain[-1][0] != f"/p/algebra/review/{split.pk}/"
    reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted)
    assert Annotation.objects.filter(adjudicates=True).count() == 1, "the same form again decides nothing anew"


def test_a_page_that_decided_says_how_to_change_the_decision(reviewer: Client, split: Solution) -> None:
    """A browser that goes back shows the page as it was."""
    first, second = split.annotations.order_by("pk")
    posted = form(reviewer, split)
    address = f"/p/algebra/review/{split.pk}/decide/"
    reviewer.post(address, posted | {"accepts": str(first.pk)})
    own = {f"word-{step.pk}": "1" for step in split.steps.filter(alternative=0)}
    for other in ({"accepts": str(second.pk)}, own):
        answer = reviewer.post(address, posted | other, follow=True)
        assert "To change it, decide again below." in answer.content.decode()
        assert Annotation.objects.get(adjudicates=True).first_error == first.first_error


def test_a_reviewers_own_ratings_decide_or_are_told_what_they_lack(reviewer: Client, split: Solution) -> None:
    first, *_ = steps = list(split.steps.filter(alternative=0))
    lacking = form(reviewer, split) | {f"word-{first.pk}": "1"}
    told = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", lacking, follow=True).content.decode()
    assert "must be rated or marked as unsure" in told
    assert not Annotation.objects.filter(adjudicates=True).exists()
    whole = form(reviewer, split) | {f"word-{step.pk}": "1" for step in steps} | {"comment": "All of it holds."}
    reviewer.post(f"/p/algebra/review/{split.pk}/decide/", whole)
    decided = Annotation.objects.get(adjudicates=True)
    assert (decided.first_error, decided.comment) == (-1, "All of it holds.")


def test_a_label_that_came_meanwhile_is_looked_at_first(reviewer: Client, split: Solution) -> None:
    label = split.annotations.order_by("pk").first()
    posted = form(reviewer, split) | {"accepts": str(label.pk)}
    AnnotationFactory(solution=split, first_error=0, finish_reason="found_error")
    told = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted, follow=True).content.decode()
    assert "newer label or decision. Look at it again" in told
    assert not Annotation.objects.filter(adjudicates=True).exists()


def test_a_label_goes_back_with_its_reason_and_may_be_taken_back(
    reviewer: Client, split: Solution, project: Project
) -> None:
    now, member = timezone.now(), MembershipFactory(project=project)
    lease = Lease.objects.create(
        item=split.queue_items.get(),
        solution=split,
        annotator=member,
        state="submitted",
        claimed_at=now,
        expires_at=now,
    )
    label = AnnotationFactory(solution=split, annotator=member, lease=lease)
    reviewer.post(f"/p/algebra/review/labels/{label.pk}/send-back/", {"why": "Look at step 2 again."})
    sent = SentBack.objects.get()
    assert split not in to_review(project, "disagreement")
    assert "Look at step 2 again." in reviewer.get("/p/algebra/review/").content.decode()
    reviewer.post(f"/p/algebra/review/sent-back/{sent.pk}/take-back/")
    assert split in to_review(project, "disagreement")


def test_answers_bear_the_names_and_colours_of_the_project(reviewer: Client, split: Solution, project: Project) -> None:
    project.scheme |= {"answers": {"bad": {"name": "unsound", "colour": "red"}}, "offer_neutral": False}
    project.save()
    for page in (f"/p/algebra/review/{split.pk}/", f"/p/algebra/solutions/{split.pk}/"):
        shown = reviewer.get(page).content.decode()
        assert 'style="--bad: var(--hue-red)"' in shown
        assert "✗ <small>unsound</small>" in shown
        assert 'title="bad"' not in shown
    assert 'value="-1"' in reviewer.get(f"/p/algebra/review/{split.pk}/").content.decode()
    assert 'title="neutral"' not in reviewer.get(f"/p/algebra/review/{split.pk}/").content.decode()


AGENT = {
    "stop_at_first_error": False,
    "error_types": ["slip"],
    "critique": "written",
    "ask_progress": True,
    "policy_clauses": ["2.1", "3.4"],
    "consistency": True,
    "redundancy": True,
    "recovery": True,
}


def test_a_reviewer_says_of_a_step_all_that_the_project_asks(
    reviewer: Client, split: Solution, project: Project
) -> None:
    """Questions about wrong steps are left out for other steps."""
    project.scheme |= AGENT
    project.save()
    first, second, *others = split.steps.filter(alternative=0)
    said = {
        f"word-{first.pk}": "-1",
        f"type-{first.pk}": "slip",
        f"critique-{first.pk}": " 2 + 2 is 4. ",
        f"comment-{first.pk}": "Look here.",
        f"clauses-{first.pk}": ["2.1", "3.4"],
        f"span-{first.pk}": ["0:2", "3:4"],
        f"span-type-{first.pk}": ["slip", ""],
        f"span-comment-{first.pk}": ["not this", "nor that"],
        f"progress-{first.pk}": "2",
        f"word-{second.pk}": "unsure",
        f"type-{second.pk}": "slip",
        f"critique-{second.pk}": "Said before it was rated anew.",
        f"consistent-{second.pk}": "0",
        f"redundant-{second.pk}": "on",
        f"recovers-{second.pk}": "on",
        **{f"accepted-{step.pk}": "yes" for step in (first, others[0])},
    }
    whole = form(reviewer, split) | said | {f"word-{step.pk}": "1" for step in others}
    address = f"/p/algebra/review/{split.pk}/"
    reviewer.post(f"{address}decide/", whole)
    decided = Annotation.objects.get(adjudicates=True)
    wrong, doubted, *_ = decided.ratings.order_by("step__position")
    assert (decided.first_error, decided.progress, wrong.error_type, wrong.comment) == (0, 2, "slip", "Look here.")
    assert wrong.dimensions == {"clauses": ["2.1", "3.4"], "critique": "2 + 2 is 4."}
    assert wrong.spans == [
        {"start": 0, "end": 2, "error_type": "slip", "comment": "not this"},
        {"start": 3, "end": 4, "error_type": "", "comment": "nor that"},
    ]
    assert (doubted.state, doubted.error_type) == ("unsure", "")
    assert [rating.step for rating in decided.ratings.filter(accepted=True)] == [others[0]]
    assert doubted.dimensions == {
        "consistent": False, "consistent_with": 0, "redundant": True, "recovers": True,
    }  # fmt: skip
    shown = reviewer.get(address).content.decode()
    for told in ("breaks 2.1, 3.4", "contradicts step 1", "not this", "2 + 2 is 4."):
        assert told in shown, "beside what the others said, and to be changed"
    assert f'name="span-{first.pk}" value="3:4"' in shown
    assert re.findall(r'name="accepted-(\d+)" value="yes"', shown) == [str(others[0].pk)]


def test_of_two_decisions_the_later_one_is_there_to_be_changed(
    client: Client, people: dict[str, User], split: Solution
) -> None:
    steps = list(split.steps.filter(alternative=0))
    address = f"/p/algebra/review/{split.pk}/"
    for person, word in (("reviewer", "First"), ("manager", "Second")):
        client.force_login(people[person])
        said = {f"word-{step.pk}": "1" for step in steps} | {f"comment-{steps[0].pk}": word}
        client.post(f"{address}decide/", form(client, split) | said)
    assert Annotation.objects.filter(adjudicates=True).count() == 2
    shown = client.get(address).content.decode()
    assert f'name="comment-{steps[0].pk}" value="Second"' in shown
    assert '<div class="muted small" data-typeset="reasoning">Second</div>' in shown, "formulas in comments are typeset"


@pytest.mark.slow
def test_a_reviewer_rates_the_explanations_that_came_with_a_step_all_or_none(
    reviewer: Client, split: Solution, project: Project
) -> None:
    project.scheme |= {"critique": "given", "ask_progress": True}
    project.save()
    first, *_others = split.steps.filter(alternative=0)
    for n, text in enumerate(("The sum is wrong.", "It begs the question.")):
        Critique.objects.create(step=first, ordinal=n, text=text)
    address = f"/p/algebra/review/{split.pk}/"
    shown = reviewer.get(address).content.decode()
    assert shown.index("The sum is wrong.") < shown.index("It begs the question.")
    wrong = form(reviewer, split) | {f"word-{first.pk}": "-1", f"given-{first.pk}-1": "0"}
    told = reviewer.post(f"{address}decide/", wrong, follow=True).content.decode()
    assert "Rate every explanation of step 1, or none of them." in told
    assert not Annotation.objects.filter(adjudicates=True).exists()

    reviewer.post(f"{address}decide/", wrong | {f"given-{first.pk}-0": "-1"})
    decided = Annotation.objects.get(adjudicates=True)
    rating = decided.ratings.get(rating=-1)
    assert rating.dimensions == {"critique_ratings": [-1, 0]}, "and none has to be good, or written"
    shown = reviewer.get(address).content.decode()
    assert "explanation 2: neutral" in shown
    assert re.search(rf'name="given-{first.pk}-0" value="-1" checked', shown), "to be changed where one decides anew"


def test_what_does_not_fit_is_told_and_nothing_is_decided(reviewer: Client, split: Solution) -> None:
    first, *others = split.steps.filter(alternative=0)
    whole = form(reviewer, split) | {f"word-{step.pk}": "1" for step in (first, *others)}
    beyond = whole | {f"span-{first.pk}": "0:999", f"span-type-{first.pk}": "", f"span-comment-{first.pk}": ""}
    reviewer.post(f"/p/algebra/review/{split.pk}/decide/", beyond)
    assert not Annotation.objects.filter(adjudicates=True).exists()


def test_the_keys_of_a_case_are_those_of_the_scheme(reviewer: Client, split: Solution, project: Project) -> None:
    project.scheme |= {"keys": {"good": "u", "bad": "q", "go_to": "5"}, "answers": {"bad": {"name": "Broken"}}}
    project.save()
    shown = reviewer.get(f"/p/algebra/review/{split.pk}/").content.decode()
    assert "&quot;u&quot;: &quot;rate:1&quot;" in shown
    assert "&quot;1&quot;:" not in shown
    assert "<kbd>q</kbd></dt><dd>rate the step: Broken" in shown


@given(
    st.permutations(sorted({*DEFAULT_KEYS.values(), *"uqäß5;"})).map(
        lambda keys: dict(zip(DEFAULT_KEYS, keys, strict=False))
    )
)
def test_no_key_of_a_case_does_two_things(keys: dict[str, str]) -> None:
    case = keys_of(LabelScheme(keys=keys))
    done = [*case.of.values(), *case.letters, *(letter.upper() for letter in case.letters)]
    assert len(set(done)) == len(done)
    assert set(case.actions) == set(done)
    assert [case.actions[keys[name]] for name in ("good", "unsure")] == ["rate:1", "rate:unsure"]


def test_the_consensus_is_beside_each_step_under_the_latest_fit(
    reviewer: Client, split: Solution, project: Project
) -> None:
    address = f"/p/algebra/review/{split.pk}/"
    shown = reviewer.get(address).content.decode()
    assert "Show shares of votes" in shown
    assert "good 50\xa0%, neutral 0\xa0%, bad 50\xa0%" in shown
    fit_for(by=None, project=project, scope=scope_of(project))
    _, posteriors = consensus_on(split)
    shown = reviewer.get(address).content.decode()
    assert "Show the consensus (fit 1)" in shown
    assert f"bad {round(100 * posteriors[0, 0].bad)}\xa0%" in shown
