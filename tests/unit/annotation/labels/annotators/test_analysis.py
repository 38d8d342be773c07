"""The figures of each annotator, from real rows and from made-up ones."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from annotation.core.errors import DomainError
from annotation.labels.annotators.analysis import FIGURES, Analysis, who_is
from annotation.labels.annotators.batches import set_aside_by_hand
from annotation.labels.annotators.biases import Compared, biases_of
from annotation.labels.annotators.judged_labels import FirstErrorLabel
from annotation.labels.annotators.label_costs import costs_by_member
from annotation.labels.annotators.valid_solutions import rejections_of, unconventional_solutions, words_of
from annotation.labels.annotators.weeks import weeks_of
from annotation.labels.list_filters import LabelFilter
from annotation.models import StepRating
from tests.factories import AnnotationFactory, MembershipFactory, ProblemFactory, ProjectFactory, SolutionFactory

WAYS = ["We add two and two.", "The sum is 4.", "The answer is 4."]
RARE = ["Draw a square.", "Its four corners count.", "Hence four."]


@pytest.fixture
def project(db):
    return ProjectFactory(policy={"costs": {"hour": 36.0}})


@pytest.fixture
def people(project):
    return [MembershipFactory(project=project) for _ in range(3)]


def label(solution, member, first_error, **named):
    reason = "solution" if first_error < 0 else "found_error"
    made = AnnotationFactory(
        solution=solution, annotator=member, first_error=first_error, finish_reason=reason, **named
    )
    for step in solution.steps.all()[: first_error + 1 or None]:
        rating = -1 if step.position == first_error else 1
        StepRating.objects.create(annotation=made, step=step, state="rated", rating=rating)
    return made


class TestBiases:
    def compared(self, rng, who, number, *, long_excess=0.0, shift=0.0):
        rows = []
        for n in range(number):
            long = bool(n % 2)
            excess = 1 if rng.random() < 0.1 + long_excess * long else -1 if rng.random() < 0.1 else 0
            rows.append(Compared(n, who, excess, round(rng.normal(shift, 1)), features={"long": long}))
        return rows

    def test_a_bias_is_found_and_its_interval_leaves_out_zero(self):
        rng = np.random.default_rng(0)
        biases = biases_of([
            *self.compared(rng, "x", 200, long_excess=0.5),
            *self.compared(rng, "y", 200, shift=1.0),
            *self.compared(rng, "z", 200),
        ])  # fmt: skip
        clear = {(one.who, one.measure, one.feature) for one in biases if one.clear}
        assert clear == {("x", "calls", "long"), ("y", "position", "")}
        assert all((one.low > 0 or one.high < 0) == one.clear for one in biases)
        [long] = [one for one in biases if (one.who, one.measure) == ("x", "calls")]
        assert (long.with_feature, long.without) == (100, 100)
        assert 0.3 < long.value < 0.7

    @pytest.mark.slow
    def test_without_bias_something_is_found_in_one_project_of_twenty_at_most(self):
        """20 people and two features each in 200 projects."""
        rng = np.random.default_rng(1)
        projects = [biases_of([row for n in range(20) for row in self.compared(rng, f"p{n}", 40)]) for _ in range(200)]
        wrong = sum(any(one.clear for one in biases) for biases in projects)
        assert wrong <= 200 * 0.05 + 6  # two standard deviations of 200 draws

    def test_too_few_labels_have_no_bias(self):
        assert biases_of(self.compared(np.random.default_rng(0), "x", 9)) == []


class TestValidSolutions:
    def test_the_quarter_that_is_least_like_the_others_is_unconventional(self):
        usual, rare = words_of(" ".join(WAYS)), words_of(" ".join(RARE))
        words = {n: {10 * n + k: rare if k == 3 and n < 2 else usual for k in range(4)} for n in range(4)}
        valid = frozenset(solution for solutions in words.values() for solution in solutions)
        unconventional = unconventional_solutions(words, valid)
        assert {solution for solution, rarely in unconventional.items() if rarely} == {3, 13}
        assert unconventional_solutions({1: words[1]}, valid) == {}, "too few to say"

    def test_rejections_of_both_kinds_are_compared(self):
        unconventional = {n: n < 10 for n in range(30)}
        rejections = rejections_of([(n, n < 8) for n in range(30)], unconventional)
        assert (rejections.unconventional.count, rejections.unconventional.of) == (8, 10)
        assert (rejections.others.count, rejections.others.of) == (0, 20)
        assert rejections.gap is not None
        assert rejections.gap.low > 0.3


def test_weeks_begin_on_monday_in_the_project_s_time_zone():
    sunday = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    firsts = [("x", 1), ("x", -1), ("y", -1)]
    labels = [
        FirstErrorLabel(n, n, who, False, first, sunday + timedelta(hours=n), False)
        for n, (who, first) in enumerate(firsts)
    ]
    weeks = weeks_of("x", labels, {}, {0: 2000.0, 1: 8000.0}, UTC)
    assert [(week.since, week.until, week.labels) for week in weeks] == [
        (date(2026, 2, 23), date(2026, 3, 1), 1), (date(2026, 3, 2), date(2026, 3, 8), 1),
    ]  # fmt: skip
    assert [week.errors.value for week in weeks] == [1.0, 0.0]
    assert [week.others_errors.of for week in weeks] == [0, 1]
    assert weeks[1].pace.seconds == pytest.approx(8.0)


class TestAnalysis:
    def test_a_figure_opens_its_rows(self, project, people):
        solutions = [SolutionFactory(project=project, generator="gpt") for _ in range(4)]
        for number, solution in enumerate(solutions):
            label(solution, people[0], 1 if number else 2, total_ms=100 if number == 3 else 60_000)
            label(solution, people[1], 1)
        alone = label(SolutionFactory(project=project), people[0], -1)
        analysis, who = Analysis(project), who_is(people[0])
        own = list(project.annotations.filter(annotator=people[0]).order_by("pk").values_list("pk", flat=True))
        assert analysis.rows(who, "compared") == set(own) - {alone.pk}
        assert analysis.rows(who, "wrong") == {own[0]}
        assert analysis.rows(who, "unread") == {own[3]}
        rows = LabelFilter(annotator=people[0].pseudonym, figure="wrong").narrow(project, project.annotations.all())
        assert [row.pk for row in rows] == [own[0]]
        by_generator = LabelFilter(generator="gpt").narrow(project, project.annotations.all())
        assert by_generator.count() == 8
        with pytest.raises(DomainError, match="annotator, figure"):
            LabelFilter(figure="wrong").narrow(project, project.annotations.all())
        assert all(isinstance(analysis.rows(who, figure), set) for figure in FIGURES)

    def test_unconventional_valid_solutions_that_a_person_rejects_are_counted(self, project, people):
        for number in range(8):
            problem = ProblemFactory(project=project)
            for rare in (True, False, False, False):
                solution = SolutionFactory(
                    project=project, problem=problem, final_answer_correct=True,
                    steps=[*(RARE if rare and number < 2 else WAYS), f"Number {number}."],
                )  # fmt: skip
                label(solution, people[1], -1)
                label(solution, people[2], -1)
                label(solution, people[0], 0 if rare and number < 2 else -1)
        analysis = Analysis(project)
        rejections = analysis.rejections[who_is(people[0])]
        assert (rejections.unconventional.count, rejections.unconventional.of) == (2, 8)
        assert rejections.others.count == 0
        assert len(analysis.rows(who_is(people[0]), "unconventional")) == 8

    def test_an_accepted_label_costs_the_time_of_all(self, project, people):
        """36 an hour is 0.01 a second. One label of four is set aside, another is overruled."""
        labels = [label(SolutionFactory(project=project), people[0], -1, total_ms=10_000) for _ in range(4)]
        label(labels[0].solution, people[1], 1, adjudicates=True)
        manager = MembershipFactory(project=project, role="manager").user
        at = labels[1].submitted_at
        set_aside_by_hand(by=manager, project=project, annotator=people[0], since=at, until=at, reason="tired")
        cost = costs_by_member(project)[people[0].pk]
        assert (cost.labels, cost.accepted, cost.seconds) == (4, 2, 40.0)
        assert cost.each == pytest.approx(0.2)
        assert people[1].pk not in costs_by_member(project)
