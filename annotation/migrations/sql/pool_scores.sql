-- Scores are partitioned by model version, which Django cannot declare: a version is loaded by COPY and dropped whole.
-- `loop/pool/partitions.py` creates and drops the partitions. There are no foreign keys: they would be checked row by row.

CREATE TABLE annotation_poolscore (
    model_version_id bigint NOT NULL,
    solution_id bigint NOT NULL,
    mean double precision[] NOT NULL,
    spread double precision[] NOT NULL,
    score double precision,
    gain double precision,
    expected_seconds double precision,
    heads bytea NOT NULL,
    embedding bytea NOT NULL DEFAULT '',
    unscored_steps integer NOT NULL CHECK (unscored_steps >= 0),
    CONSTRAINT pool_score_key PRIMARY KEY (model_version_id, solution_id)
) PARTITION BY LIST (model_version_id);
CREATE INDEX pool_score_by_score ON annotation_poolscore (score);
CREATE INDEX pool_score_by_gain ON annotation_poolscore (gain);
