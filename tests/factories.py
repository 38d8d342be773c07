"""Rows for tests, through factory_boy. A solution comes with its steps: `SolutionFactory(steps=[...])`."""

import hashlib
import uuid

import factory
import msgspec
from django.contrib.auth.models import User
from django.utils import timezone
from factory.django import DjangoModelFactory

from annotation.core.solution_search import words_of_solution
from annotation.models import (
    Annotation,
    Generation,
    LabelSource,
    MachineAnnotator,
    Membership,
    ModelVersion,
    Problem,
    Project,
    QueueItem,
    Snapshot,
    Solution,
    SolutionWords,
    Step,
)
from annotation.models.model_version import Verdict
from prm.evaluation import Comparison, Metric, Report, Slice
from prm.evaluation.sequential import boundary
from prm.messages import Message
from prm.threshold import Threshold


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence("person{}".format)
    password = factory.django.Password("correct horse")


class ProjectFactory(DjangoModelFactory):
    """`guidelines` and `examples` become the first version of the guidelines."""

    class Meta:
        model = Project

    slug = factory.Sequence("project-{}".format)
    name = factory.Sequence("Project {}".format)

    @classmethod
    def _create(cls, model_class, *args, guidelines="", examples=(), **fields):
        project = super()._create(model_class, *args, **fields)
        if guidelines or examples:
            project.guideline_versions.create(number=1, text=guidelines, examples=[*examples])
        return project


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    project = factory.SubFactory(ProjectFactory)
    user = factory.SubFactory(UserFactory)
    role = Membership.Role.ANNOTATOR


class ProblemFactory(DjangoModelFactory):
    class Meta:
        model = Problem

    project = factory.SubFactory(ProjectFactory)
    text = factory.Sequence("What is {} plus 2?".format)
    text_hash = factory.LazyAttribute(lambda problem: hashlib.sha256(problem.text.encode()).hexdigest())
    source_group = factory.LazyAttribute(lambda problem: problem.text_hash[:12])
    split = "pool"
    domain = "arithmetic"
    reference_answer = "4"


class SolutionFactory(DjangoModelFactory):
    """`steps` is a list of texts, or of lists of texts where alternatives stand at a position."""

    class Meta:
        model = Solution
        skip_postgeneration_save = True

    project = factory.SubFactory(ProjectFactory)
    problem = factory.SubFactory(ProblemFactory, project=factory.SelfAttribute("..project"))
    split = factory.SelfAttribute("problem.split")
    content_hash = factory.Sequence(lambda n: hashlib.sha256(str(n).encode()).hexdigest())

    @factory.post_generation
    def steps(self, create, given, **kwargs):
        if not create:
            return
        given = given if given is not None else ["We add the numbers.", "2 + 2 = 4.", "The answer is 4."]
        Step.objects.bulk_create(
            Step(solution=self, position=position, alternative=alternative, text=text)
            for position, at in enumerate(given)
            for alternative, text in enumerate([at] if isinstance(at, str) else at)
        )


def index_words(project: Project) -> None:
    """Let searches find the project's solutions, as an import does."""
    for solution in project.solutions.select_related("problem"):
        words = words_of_solution([solution.problem.text, *solution.steps.values_list("text", flat=True)])
        SolutionWords.objects.create(solution=solution, words=b" ".join(words).decode())


class GenerationFactory(DjangoModelFactory):
    class Meta:
        model = Generation

    project = factory.SubFactory(ProjectFactory)
    number = factory.Sequence(int)
    acquisition = "random"
    seed = 0
    budget = 100


class QueueItemFactory(DjangoModelFactory):
    class Meta:
        model = QueueItem

    generation = factory.SubFactory(GenerationFactory)
    project = factory.SelfAttribute("generation.project")
    solution = factory.SubFactory(SolutionFactory, project=factory.SelfAttribute("..project"))
    split = factory.SelfAttribute("solution.split")
    lane = "control"
    rank = factory.Sequence(int)


class LabelSourceFactory(DjangoModelFactory):
    class Meta:
        model = LabelSource
        django_get_or_create = ("project", "kind", "name")

    project = factory.SubFactory(ProjectFactory)
    kind = "human"
    name = ""


class MachineAnnotatorFactory(DjangoModelFactory):
    class Meta:
        model = MachineAnnotator

    membership = factory.SubFactory(MembershipFactory, kind="machine")
    model_name = "judge-7b"
    prompt_version = "1"
    family = "judge-7b"
    source = factory.SubFactory(
        LabelSourceFactory,
        project=factory.SelfAttribute("..membership.project"),
        kind="model_judge",
        name="judge-7b, prompt 1",
        detail={"model": "judge-7b", "prompt_version": "1"},
    )


class SnapshotFactory(DjangoModelFactory):
    class Meta:
        model = Snapshot

    project = factory.SubFactory(ProjectFactory)
    sha256 = factory.Sequence("{:064}".format)
    path = factory.LazyAttribute(lambda snapshot: f"{snapshot.sha256}.jsonl")


class ModelVersionFactory(DjangoModelFactory):
    class Meta:
        model = ModelVersion

    project = factory.SubFactory(ProjectFactory)
    number = factory.Sequence(int)
    path = factory.LazyAttribute(lambda version: f"{version.project.pk}/{version.number}")
    sha256 = "0" * 64


class AnnotationFactory(DjangoModelFactory):
    """An annotation by a member, outside the queue; ratings and path are added by the test that needs them."""

    class Meta:
        model = Annotation

    solution = factory.SubFactory(SolutionFactory)
    project = factory.SelfAttribute("solution.project")
    annotator = factory.SubFactory(MembershipFactory, project=factory.SelfAttribute("..project"))
    source = factory.SubFactory(LabelSourceFactory, project=factory.SelfAttribute("..project"))
    submission_id = factory.LazyFunction(uuid.uuid4)
    payload_hash = "0" * 64
    finish_reason = "solution"
    first_error = -1
    submitted_at = factory.LazyFunction(timezone.now)


def make_comparison(*, gain=0.1, low=0.01, high=0.2, solutions=20, problems=10, samples=()):
    """A challenger against its rival on the holdout; `low` is also the gate's bound over all rounds."""
    error = (gain - low) / boundary(solutions)
    return Comparison(gain, error, low, high, 0.5 + gain, 0.5, solutions, problems, list(samples))


def make_verdict(**fields):
    """A verdict that promotes a measured model, except for these `fields`."""
    given = {
        "promote": True,
        "sentence": Message("model_number_capital", n=1),
        "rival": Message("zero_label_baseline"),
        "gain": 0.08,
        "error": 0.03,
        "low": 0.01,
        "high": 0.15,
        "detectable": 0.08,
        "tolerance": 0.02,
        "n": 40,
        "n_problems": 30,
        "samples": [0.01 * n for n in range(1, 16)],
        "holdout_uses": 0,
    }
    return Verdict(**given | fields)


def make_report(value, low=None, high=None):
    """A report in which every metric has this value and interval."""
    metric = Metric(value, low, high)
    counts = {field.name: 40 if field.type is int else metric for field in msgspec.structs.fields(Slice)}
    return Report(
        threshold=Threshold(0.5), bootstrap=200, overall=Slice(**counts), by_domain={}, by_length={}, by_generator={},
        by_position={}, reliability=[], raw_reliability=[],
    )  # fmt: skip
