-- A solution has its problem's split and a queue item its solution's, by composite foreign keys: holdout stays holdout,
-- and the check on a queue item's lane can rely on it.

ALTER TABLE annotation_solution ADD CONSTRAINT solution_split_is_problems
    FOREIGN KEY (problem_id, split) REFERENCES annotation_problem (id, split) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE annotation_queueitem ADD CONSTRAINT queue_item_split_is_solutions
    FOREIGN KEY (solution_id, split) REFERENCES annotation_solution (id, split) DEFERRABLE INITIALLY DEFERRED;
