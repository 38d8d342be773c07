"""Lanes are served by how far they are behind, and a long history is not looked at again.

1. `LaneTally` counts the places of each lane; triggers on the queue's items keep it, whatever changes an item.
2. `QueueItem.reopened` is set by a trigger where an item can be given that could not be a moment ago, or that moved
   ahead: somebody may have passed it by.
3. What a project said of its queue stands under `queue` in its policy.
"""

from typing import Any

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

WEEK, DEEPEST = 7 * 24 * 60, 20  # minutes; solutions

WANTED = "CASE WHEN {row}.state = 'retired' THEN {row}.leased + {row}.done ELSE {row}.wanted END"
COUNTED = "{row}.lane NOT IN ('screening', 'gold')"


def summed(table: str, row: str, sign: str) -> str:
    return (
        f"SELECT {row}.generation_id, {row}.lane, {sign} {WANTED.format(row=row)} AS wanted, "
        f"{sign} ({row}.leased + {row}.done) AS taken FROM {table} {row} WHERE {COUNTED.format(row=row)}"
    )


ADD = """
    INSERT INTO annotation_lanetally (generation_id, lane, wanted, taken)
    SELECT generation_id, lane, sum(wanted), sum(taken) FROM ({changes}) AS change
    GROUP BY generation_id, lane HAVING sum(wanted) <> 0 OR sum(taken) <> 0
    ORDER BY generation_id, lane
    ON CONFLICT (generation_id, lane) DO UPDATE
    SET wanted = annotation_lanetally.wanted + EXCLUDED.wanted, taken = annotation_lanetally.taken + EXCLUDED.taken;
"""
SUBTRACT = """
    UPDATE annotation_lanetally tally SET wanted = tally.wanted + gone.wanted, taken = tally.taken + gone.taken
    FROM (SELECT generation_id, lane, sum(wanted) AS wanted, sum(taken) AS taken FROM ({changes}) AS change
          GROUP BY generation_id, lane) AS gone
    WHERE tally.generation_id = gone.generation_id AND tally.lane = gone.lane;
"""


def tally(event: str, tables: str, body: str) -> migrations.RunSQL:
    name = f"stepmark_tally_{event.lower()}"
    return migrations.RunSQL(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$; "
        f"CREATE TRIGGER queueitem_tally_{event.lower()} AFTER {event} ON annotation_queueitem "
        f"REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {name}();",
        f"DROP TRIGGER queueitem_tally_{event.lower()} ON annotation_queueitem; DROP FUNCTION {name}();",
    )


NEW, OLD = summed("new_rows", "n", ""), summed("old_rows", "o", "-")
FILL = ADD.format(changes=summed("annotation_queueitem", "i", ""))

OFFERED = "{row}.state = 'ready' AND NOT {row}.paused AND {row}.assigned_to_id IS NULL"
REOPEN = f"""
CREATE FUNCTION stepmark_reopen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.reopened := true; RETURN NEW; END $$;
CREATE TRIGGER queueitem_reopen BEFORE UPDATE ON annotation_queueitem FOR EACH ROW
WHEN ({OFFERED.format(row="NEW")} AND (NOT ({OFFERED.format(row="OLD")})
      OR NEW.rank < OLD.rank OR NEW.lane <> OLD.lane))
EXECUTE FUNCTION stepmark_reopen();
"""
REOPEN_REVERSE = "DROP TRIGGER queueitem_reopen ON annotation_queueitem; DROP FUNCTION stepmark_reopen();"


def move_policies(apps: Any, schema_editor: Any) -> None:
    """Gather what is said of the queue under `queue`, and name the labels wanted by lane."""
    for project in apps.get_model("annotation", "Project").objects.all():
        policy = project.policy
        moved = {name: policy.pop(name) for name in ("lease_minutes", "prefetch_depth") if name in policy}
        wanted = {}
        if "annotations_wanted" in policy:
            number = policy.pop("annotations_wanted")
            wanted = dict.fromkeys(("acquisition", "control", "holdout", "calibration"), number)
        if "overlap_wanted" in policy:
            wanted["overlap"] = policy.pop("overlap_wanted")
        if wanted:
            moved["wanted"] = wanted
        if "lease_minutes" in moved:
            moved["lease_minutes"] = min(moved["lease_minutes"], WEEK)
            moved["heartbeat_seconds"] = min(60, 20 * moved["lease_minutes"])
        if "prefetch_depth" in moved:
            moved["prefetch_depth"] = min(moved["prefetch_depth"], DEEPEST)
        if moved:
            policy["queue"] = moved
            project.save(update_fields=["policy"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0022_withdrawn_disputes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Frontier",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("screening", "Screening"),
                            ("gold", "Gold"),
                            ("holdout", "Holdout"),
                            ("calibration", "Calibration"),
                            ("control", "Control"),
                            ("acquisition", "Acquisition"),
                            ("overlap", "Overlap"),
                            ("pinned", "Pinned"),
                        ],
                        max_length=12,
                    ),
                ),
                ("rank", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="LaneTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("screening", "Screening"),
                            ("gold", "Gold"),
                            ("holdout", "Holdout"),
                            ("calibration", "Calibration"),
                            ("control", "Control"),
                            ("acquisition", "Acquisition"),
                            ("overlap", "Overlap"),
                            ("pinned", "Pinned"),
                        ],
                        max_length=12,
                    ),
                ),
                ("wanted", models.IntegerField()),
                ("taken", models.IntegerField()),
            ],
        ),
        migrations.RemoveIndex(
            model_name="queueitem",
            name="queue_item_ready",
        ),
        migrations.AddField(
            model_name="membership",
            name="domains",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(blank=True, max_length=100), blank=True, null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="queueitem",
            name="reopened",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(condition=models.Q(("state", "expired")), fields=["annotator"], name="lease_run_out"),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(("assigned_to__isnull", True), ("paused", False), ("state", "ready")),
                fields=["generation", "lane", "rank", "id"],
                name="queue_item_in_lane",
            ),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(
                    ("assigned_to__isnull", True), ("paused", False), ("state", "ready"), ("reopened", True)
                ),
                fields=["generation", "lane", "rank", "id"],
                name="queue_item_reopened",
            ),
        ),
        migrations.AddField(
            model_name="frontier",
            name="annotator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="frontiers", to="annotation.membership"
            ),
        ),
        migrations.AddField(
            model_name="frontier",
            name="generation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="frontiers", to="annotation.generation"
            ),
        ),
        migrations.AddField(
            model_name="lanetally",
            name="generation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="annotation.generation"
            ),
        ),
        migrations.AddConstraint(
            model_name="frontier",
            constraint=models.UniqueConstraint(fields=("annotator", "generation", "lane"), name="frontier_once"),
        ),
        migrations.AddConstraint(
            model_name="lanetally",
            constraint=models.UniqueConstraint(fields=("generation", "lane"), name="lane_tally_once"),
        ),
        tally("INSERT", "NEW TABLE AS new_rows", ADD.format(changes=NEW)),
        tally("UPDATE", "NEW TABLE AS new_rows OLD TABLE AS old_rows", ADD.format(changes=f"{NEW} UNION ALL {OLD}")),
        tally("DELETE", "OLD TABLE AS old_rows", SUBTRACT.format(changes=OLD)),
        migrations.RunSQL(REOPEN, REOPEN_REVERSE),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunPython(move_policies, migrations.RunPython.noop),
    ]
