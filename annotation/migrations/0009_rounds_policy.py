from typing import Any

from django.db import migrations

HOURS_A_DAY, HALF_A_MONTH = 24, 15


def move_policies(apps: Any, schema_editor: Any) -> None:
    """Gather what begins rounds under `rounds`, with hours between them as a schedule."""
    for project in apps.get_model("annotation", "Project").objects.all():
        policy = project.policy
        labels, hours = policy.pop("retrain_after_labels", None), policy.pop("retrain_every_hours", None)
        moved = ({"after_labels": labels} if labels else {}) | ({"cron": cron_of(hours)} if hours else {})
        if moved:
            policy["rounds"] = moved | policy.get("rounds", {})
        if moved or labels is not None or hours is not None:
            project.save(update_fields=["policy"])


def cron_of(hours: int) -> str:
    """The schedule nearest to "every so many hours", rounded up to what a clock's day or a month's days divide into.

    From the end of a month to the next one's first day the gap may be shorter.
    """
    if hours <= HOURS_A_DAY:
        every = next(step for step in (1, 2, 3, 4, 6, 8, 12, 24) if step >= hours)
        return "0 3 * * *" if every == HOURS_A_DAY else "0 * * * *" if every == 1 else f"0 */{every} * * *"
    days = -(-hours // HOURS_A_DAY)
    return f"0 3 */{days} * *" if days <= HALF_A_MONTH else "0 3 1 * *"


def name_cancelled_stages(apps: Any, schema_editor: Any) -> None:
    """Cancelled stages were kept as skipped ones."""
    stages = apps.get_model("annotation", "RunStage").objects
    stages.filter(state="skipped", figure="cancelled").update(state="cancelled", figure="")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_rounds_on_rails")]

    operations = [
        migrations.RunPython(move_policies, migrations.RunPython.noop),
        migrations.RunPython(name_cancelled_stages, migrations.RunPython.noop),
    ]
