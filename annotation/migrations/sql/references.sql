-- References of the tables that imports and labels fill. A foreign key is checked by a query for each row, which takes
-- a third of an import's time; these are checked by one query for each statement, and promise the same. A row may only
-- refer to a row that exists. Inserting it locks that row (FOR KEY SHARE), so that a concurrent deletion waits and then
-- fails, or is waited for and makes the insertion fail. A transaction that deletes a row fails at its end if rows still
-- refer to it.
--
-- Each reference has functions of its own, because a session then plans their queries once. The plan of an insertion
-- must hold while a table grows from nothing, so it may only look rows up by an index.

DO $do$
DECLARE
    reference record;
BEGIN
    FOR reference IN SELECT child, field, parent, child || '_' || field AS name FROM (VALUES
        ('annotation_step', 'solution_id', 'annotation_solution'),
        ('annotation_solutionwords', 'solution_id', 'annotation_solution'),
        ('annotation_solution', 'project_id', 'annotation_project'),
        ('annotation_solution', 'import_job_id', 'annotation_importjob'),
        ('annotation_problem', 'project_id', 'annotation_project'),
        ('annotation_pathstep', 'annotation_id', 'annotation_annotation'),
        ('annotation_pathstep', 'chosen_id', 'annotation_step'),
        ('annotation_steprating', 'annotation_id', 'annotation_annotation'),
        ('annotation_steprating', 'step_id', 'annotation_step')
    ) AS named (child, field, parent) LOOP
        EXECUTE replace(replace(replace(replace($sql$
            CREATE FUNCTION NAME_required() RETURNS trigger LANGUAGE plpgsql
            SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
            DECLARE
                missing bigint;
            BEGIN
                WITH parents AS (SELECT id FROM PARENT WHERE id IN (SELECT FIELD FROM new_rows) FOR KEY SHARE)
                SELECT min(FIELD) FROM new_rows WHERE FIELD NOT IN (SELECT id FROM parents) INTO missing;
                IF missing IS NOT NULL THEN
                    RAISE EXCEPTION 'CHILD FIELD: there is no row % in PARENT', missing
                    USING ERRCODE = 'foreign_key_violation';
                END IF;
                RETURN NULL;
            END
            $$;

            CREATE FUNCTION NAME_kept() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                -- The snapshot of a whole transaction would miss rows that others have added since.
                IF current_setting('transaction_isolation') <> 'read committed' THEN
                    RAISE EXCEPTION 'rows of PARENT can only be deleted at the isolation level READ COMMITTED'
                    USING ERRCODE = 'feature_not_supported';
                END IF;
                IF EXISTS (SELECT FROM CHILD WHERE FIELD = OLD.id) AND NOT EXISTS (SELECT FROM PARENT WHERE id = OLD.id)
                THEN
                    RAISE EXCEPTION 'CHILD still refers to row % of PARENT', OLD.id
                    USING ERRCODE = 'foreign_key_violation';
                END IF;
                RETURN NULL;
            END
            $$;

            CREATE TRIGGER NAME_on_insert AFTER INSERT ON CHILD REFERENCING NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION NAME_required();
            CREATE TRIGGER NAME_on_update AFTER UPDATE ON CHILD REFERENCING NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION NAME_required();
            CREATE CONSTRAINT TRIGGER NAME_on_delete AFTER DELETE OR UPDATE OF id ON PARENT
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION NAME_kept()
        $sql$,
            'NAME', reference.name), 'PARENT', reference.parent), 'CHILD', reference.child), 'FIELD', reference.field);
    END LOOP;
END
$do$;
