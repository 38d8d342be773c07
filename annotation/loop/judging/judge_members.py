"""The machine annotators of judges: one for each model and version of the prompt."""

from django.contrib.auth.models import User
from django.db.models import Sum
from django.utils.text import slugify

from annotation.core import audit
from annotation.core.membership.machines import MachineSetup, add_machine
from annotation.models import JudgingRun, MachineAnnotator, Membership

NAME_LENGTH, MODEL_LENGTH = 140, 100


def find_judge(run: JudgingRun) -> Membership | None:
    """The active machine annotator of the run's model and version of the prompt; None if the project has none."""
    machines = MachineAnnotator.objects.filter(
        membership__project=run.project,
        membership__active=True,
        model_name=run.model[:MODEL_LENGTH],
        prompt_version=run.prompt_version,
    )
    machine = machines.select_related("membership__user", "source").order_by("pk").first()
    return None if machine is None else machine.membership


def find_or_add_judge(*, by: User, run: JudgingRun) -> Membership:
    """The run's machine annotator, which the project gets if it has none. Raises as `add_machine`."""
    setup = MachineSetup(model_name=run.model[:MODEL_LENGTH], prompt_version=run.prompt_version)
    return find_judge(run) or add_machine(by=by, project=run.project, name=_free_name(run), setup=setup).membership


def record_cost(run: JudgingRun) -> None:
    """Set the cost of a label of the run's machine annotator to the mean of its runs, if they had prices."""
    totals = JudgingRun.objects.filter(annotator=run.annotator_id).aggregate(Sum("cost"), Sum("labelled"))
    if run.annotator is None or not totals["cost__sum"] or not totals["labelled__sum"]:
        return
    machine = MachineAnnotator.objects.get(membership=run.annotator)
    before, cost = machine.cost_per_label, float(totals["cost__sum"] / totals["labelled__sum"])
    if cost != before:
        machine.cost_per_label = cost
        machine.save(update_fields=["cost_per_label"])
        audit.record(
            by=run.requested_by,
            action="machine.change",
            target=machine,
            project=run.project,
            before={"cost_per_label": before},
            after={"cost_per_label": cost},
        )


def _free_name(run: JudgingRun) -> str:
    """A name for the account, which is unique on the server."""
    name = slugify(f"{run.project.slug} {run.model} {run.prompt_version.replace('/', ' ')}")[:NAME_LENGTH]
    taken = User.objects.filter(username__startswith=name).count()
    return f"{name}-{taken + 1}" if taken else name
