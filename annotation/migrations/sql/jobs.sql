-- What jobs of every kind have in common, for the list of them. It has one SELECT for each model that is a Job.

CREATE VIEW annotation_jobentry AS
SELECT 'import-' || id AS key, 'import' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_importjob
UNION ALL
SELECT 'answers-' || id AS key, 'answers' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_answercheck
UNION ALL
SELECT 'sampling-' || id AS key, 'sampling' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_samplingrun
UNION ALL
SELECT 'judging-' || id AS key, 'judging' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_judgingrun
UNION ALL
SELECT 'simulation-' || id AS key, 'simulation' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_simulationrun
UNION ALL
SELECT 'model-' || id AS key, 'model' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_modeljob
UNION ALL
SELECT 'run-' || id AS key, 'run' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_trainingrun
UNION ALL
SELECT 'pool-' || id AS key, 'pool' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_poolscoring
UNION ALL
SELECT 'export-' || id AS key, 'export' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_exportjob
UNION ALL
SELECT 'overlap-' || id AS key, 'overlap' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_contaminationcheck
UNION ALL
SELECT 'fit-' || id AS key, 'fit' AS kind, id AS job_id, project_id, requested_by_id, state, created_at,
       started_at, finished_at
FROM annotation_consensusfit;
