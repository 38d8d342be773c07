"""Invariants that Django's model constraints cannot say.

1. A solution's split is its problem's split and a queue item's split is its solution's, by composite
   foreign keys: what is holdout stays holdout, and the check on a queue item's lane can rely on it.
2. Submitted labels, snapshots and audit rows never change. Rows may be deleted or changed only in a
   transaction that has said `SET LOCAL stepmark.erasing = 'on'` (the erasure of a person).
"""

from django.db import migrations

SPLITS = """
ALTER TABLE annotation_solution ADD CONSTRAINT solution_split_is_problems
    FOREIGN KEY (problem_id, split) REFERENCES annotation_problem (id, split) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE annotation_queueitem ADD CONSTRAINT queue_item_split_is_solutions
    FOREIGN KEY (solution_id, split) REFERENCES annotation_solution (id, split) DEFERRABLE INITIALLY DEFERRED;
"""

SPLITS_REVERSE = """
ALTER TABLE annotation_queueitem DROP CONSTRAINT queue_item_split_is_solutions;
ALTER TABLE annotation_solution DROP CONSTRAINT solution_split_is_problems;
"""

IMMUTABLE_TABLES = [
    "annotation_annotation",
    "annotation_pathstep",
    "annotation_steprating",
    "annotation_snapshot",
    "annotation_auditentry",
]

FUNCTION = """
CREATE FUNCTION stepmark_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('stepmark.erasing', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% rows are immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;
"""


def immutable(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_immutable BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();",
        f"DROP TRIGGER {table}_immutable ON {table};",
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_domain")]

    operations = [
        migrations.RunSQL(SPLITS, SPLITS_REVERSE),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION stepmark_refuse_change();"),
        *[immutable(table) for table in IMMUTABLE_TABLES],
    ]
