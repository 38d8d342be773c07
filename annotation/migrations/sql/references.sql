-- References of the tables that an import fills. A foreign key is checked by a query for each row, which takes a third
-- of an import's time; these are checked by one query for each statement, and promise the same. A row may only refer
-- to a row that exists. Inserting it locks that row (FOR KEY SHARE), so that a concurrent deletion waits and then fails,
-- or is waited for and makes the insertion fail. A transaction that deletes a row fails at its end if rows still refer
-- to it.

CREATE FUNCTION stepmark_require_parents() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    missing bigint;
BEGIN
    EXECUTE format(
        'WITH parents AS (SELECT id FROM %2$I WHERE id IN (SELECT %1$I FROM new_rows) FOR KEY SHARE)
         SELECT min(%1$I) FROM new_rows WHERE %1$I NOT IN (SELECT id FROM parents)',
        TG_ARGV[0], TG_ARGV[1]
    ) INTO missing;
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION '% %: there is no row % in %', TG_TABLE_NAME, TG_ARGV[0], missing, TG_ARGV[1]
        USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION stepmark_refuse_orphans() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    orphaned boolean;
BEGIN
    -- The snapshot of a whole transaction would miss rows that others have added since.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'rows of % can only be deleted at the isolation level READ COMMITTED', TG_TABLE_NAME
        USING ERRCODE = 'feature_not_supported';
    END IF;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %I WHERE %I = $1) AND NOT EXISTS (SELECT FROM %I WHERE id = $1)',
        TG_ARGV[0], TG_ARGV[1], TG_TABLE_NAME
    ) INTO orphaned USING OLD.id;
    IF orphaned THEN
        RAISE EXCEPTION '% still refers to row % of %', TG_ARGV[0], OLD.id, TG_TABLE_NAME
        USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    reference record;
BEGIN
    FOR reference IN SELECT * FROM (VALUES
        ('annotation_step', 'solution_id', 'annotation_solution'),
        ('annotation_solutionwords', 'solution_id', 'annotation_solution'),
        ('annotation_solution', 'project_id', 'annotation_project'),
        ('annotation_solution', 'import_job_id', 'annotation_importjob'),
        ('annotation_problem', 'project_id', 'annotation_project')
    ) AS named (child, field, parent) LOOP
        EXECUTE format(
            'CREATE TRIGGER %3$s_on_insert AFTER INSERT ON %1$I REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION stepmark_require_parents(%4$L, %2$L);
             CREATE TRIGGER %3$s_on_update AFTER UPDATE ON %1$I REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION stepmark_require_parents(%4$L, %2$L);
             CREATE CONSTRAINT TRIGGER %3$s_on_delete AFTER DELETE OR UPDATE OF id ON %2$I
             DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_orphans(%1$L, %4$L)',
            reference.child, reference.parent, reference.child || '_' || reference.field, reference.field
        );
    END LOOP;
END
$$;
