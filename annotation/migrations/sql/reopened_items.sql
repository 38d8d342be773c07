-- Each annotator has a frontier: the rank up to which the queue has nothing more for them. `reopened` marks an item that
-- can be claimed again, moved ahead, or changed its lane or taker, and that somebody's frontier may have passed.

CREATE FUNCTION stepmark_reopen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.reopened := true;
    RETURN NEW;
END
$$;
CREATE TRIGGER queueitem_reopen BEFORE UPDATE ON annotation_queueitem FOR EACH ROW
WHEN (
    NEW.state = 'ready' AND NOT NEW.paused AND NEW.assigned_to_id IS NULL
    AND (
        NOT (OLD.state = 'ready' AND NOT OLD.paused AND OLD.assigned_to_id IS NULL)
        OR NEW.rank < OLD.rank OR NEW.lane <> OLD.lane OR NEW.taker <> OLD.taker
    )
)
EXECUTE FUNCTION stepmark_reopen();
