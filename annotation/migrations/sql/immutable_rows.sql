-- Labels, guidelines, snapshots, decisions and audit rows never change. Only a transaction that erases a person may
-- change them: it says `SET LOCAL stepmark.erasing = 'on'` first.

CREATE FUNCTION stepmark_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('stepmark.erasing', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% rows are immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER annotation_annotation_immutable BEFORE UPDATE OR DELETE ON annotation_annotation
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_guidelineversion_immutable BEFORE UPDATE OR DELETE ON annotation_guidelineversion
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_pathstep_immutable BEFORE UPDATE OR DELETE ON annotation_pathstep
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_steprating_immutable BEFORE UPDATE OR DELETE ON annotation_steprating
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_snapshot_immutable BEFORE UPDATE OR DELETE ON annotation_snapshot
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_auditentry_immutable BEFORE UPDATE OR DELETE ON annotation_auditentry
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_shadowcomparison_immutable BEFORE UPDATE OR DELETE ON annotation_shadowcomparison
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_screeningdecision_immutable BEFORE UPDATE OR DELETE ON annotation_screeningdecision
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
CREATE TRIGGER annotation_practiceanswer_immutable BEFORE UPDATE OR DELETE ON annotation_practiceanswer
FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();
-- A fit is a job until it has parameters, which snapshots name by their hash.
CREATE TRIGGER annotation_consensusfit_immutable
BEFORE DELETE OR UPDATE OF method, source_kinds, previous_id, seen, parameters, sha256, report ON annotation_consensusfit
FOR EACH ROW WHEN (OLD.sha256 <> '') EXECUTE FUNCTION stepmark_refuse_change();
