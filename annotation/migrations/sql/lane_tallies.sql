-- annotation_lanetally counts the wanted and taken places of each generation, lane and taker. Statement triggers
-- keep it exact whatever changes an item, so that a claim reads a handful of rows instead of the queue.
-- A retired item wants only what it already gave out. The lanes `screening` and `gold` are outside the mix.

CREATE FUNCTION stepmark_tally_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO annotation_lanetally (generation_id, lane, taker, wanted, taken)
    SELECT generation_id, lane, taker, sum(wanted), sum(taken)
    FROM (
        SELECT n.generation_id, n.lane, n.taker, n.leased + n.done AS taken,
               CASE WHEN n.state = 'retired' THEN n.leased + n.done ELSE n.wanted END AS wanted
        FROM new_rows n WHERE n.lane NOT IN ('screening', 'gold')
    ) AS change
    GROUP BY generation_id, lane, taker
    HAVING sum(wanted) <> 0 OR sum(taken) <> 0
    ORDER BY generation_id, lane, taker  -- one lock order for all, so that two statements cannot deadlock
    ON CONFLICT (generation_id, lane, taker) DO UPDATE
    SET wanted = annotation_lanetally.wanted + EXCLUDED.wanted, taken = annotation_lanetally.taken + EXCLUDED.taken;
    RETURN NULL;
END
$$;
CREATE TRIGGER queueitem_tally_insert AFTER INSERT ON annotation_queueitem
REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION stepmark_tally_insert();

CREATE FUNCTION stepmark_tally_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO annotation_lanetally (generation_id, lane, taker, wanted, taken)
    SELECT generation_id, lane, taker, sum(wanted), sum(taken)
    FROM (
        SELECT n.generation_id, n.lane, n.taker, n.leased + n.done AS taken,
               CASE WHEN n.state = 'retired' THEN n.leased + n.done ELSE n.wanted END AS wanted
        FROM new_rows n WHERE n.lane NOT IN ('screening', 'gold')
        UNION ALL
        SELECT o.generation_id, o.lane, o.taker, -(o.leased + o.done) AS taken,
               -CASE WHEN o.state = 'retired' THEN o.leased + o.done ELSE o.wanted END AS wanted
        FROM old_rows o WHERE o.lane NOT IN ('screening', 'gold')
    ) AS change
    GROUP BY generation_id, lane, taker
    HAVING sum(wanted) <> 0 OR sum(taken) <> 0
    ORDER BY generation_id, lane, taker
    ON CONFLICT (generation_id, lane, taker) DO UPDATE
    SET wanted = annotation_lanetally.wanted + EXCLUDED.wanted, taken = annotation_lanetally.taken + EXCLUDED.taken;
    RETURN NULL;
END
$$;
CREATE TRIGGER queueitem_tally_update AFTER UPDATE ON annotation_queueitem
REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION stepmark_tally_update();

CREATE FUNCTION stepmark_tally_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An update alone: a deleted generation has taken its tallies along, and they must not be made again.
    UPDATE annotation_lanetally tally
    SET wanted = tally.wanted - gone.wanted, taken = tally.taken - gone.taken
    FROM (
        SELECT o.generation_id, o.lane, o.taker, sum(o.leased + o.done) AS taken,
               sum(CASE WHEN o.state = 'retired' THEN o.leased + o.done ELSE o.wanted END) AS wanted
        FROM old_rows o WHERE o.lane NOT IN ('screening', 'gold')
        GROUP BY o.generation_id, o.lane, o.taker
    ) AS gone
    WHERE tally.generation_id = gone.generation_id AND tally.lane = gone.lane AND tally.taker = gone.taker;
    RETURN NULL;
END
$$;
CREATE TRIGGER queueitem_tally_delete AFTER DELETE ON annotation_queueitem
REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION stepmark_tally_delete();
