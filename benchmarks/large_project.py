"""A project with a million solutions and 200,000 labels, made by set-based SQL in minutes, for benchmarks.

It has one problem per solution, eight steps whose words are as frequent as in a language, eleven generations labelled
by fifty people with overlap, holdout, calibration and hidden gold, one model's scores of every solution, an audit row
for each claim and submission, and the rows of `tests.manager_world`, so that no page is empty.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model

    from annotation.models import Project

WORDS = 20_000
STEPS = 8
PEOPLE = 50
GENERATIONS = 10  # labelled completely; another one is open
SLUG = "algebra"


def word(rank: int) -> str:
    """The word with this rank by frequency: letters only."""
    letters = ""
    while rank:
        rank, place = divmod(rank, 20)
        letters += "bcdfghjklmnpqrstvwxz"[place] + "aeiou"[place % 5]
    return letters


def sentences() -> list[str]:
    """Sentences of twenty words, drawn by frequency."""
    chance = random.Random(0)
    frequency = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    vocabulary = [word(rank) for rank in range(1, WORDS + 1)]
    return [" ".join(chance.choices(vocabulary, cum_weights=frequency, k=20)) for _ in range(WORDS)]


# A number from 0 to 2^31 - 1 that is always the same for the same text of SQL.
CHANCE = "(hashint8(({})::bigint) & 2147483647)"
# `annotation.files.identity.assign_split`, by the first four bytes of the hash.
SPLIT = """
CASE WHEN place < 0.15 * 4294967296 THEN 'holdout' WHEN place < 0.25 * 4294967296 THEN 'calibration' ELSE 'pool' END
"""


def execute(statement: str, given: dict[str, Any] | None = None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, given)


def insert(model: "type[Model]", columns: dict[str, str], rows: str, given: dict[str, Any]) -> None:
    """INSERT the `columns` (SQL expressions by column) of `rows`; other columns get the default of their field."""
    from django.db import connection

    known = dict(given)
    for field in model._meta.concrete_fields:
        if field.column not in columns and not field.null and not field.primary_key and not field.has_db_default():
            value = field.pre_save(model(), add=True) if getattr(field, "auto_now_add", False) else field.get_default()
            known[f"default_{field.column}"] = field.get_db_prep_save(value, connection)
            columns = {**columns, field.column: f"%(default_{field.column})s"}
    names = ", ".join(f'"{name}"' for name in columns)
    execute(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(columns.values())} {rows}", known)


@contextmanager
def unchecked() -> Iterator[None]:
    """Insert without triggers, which check foreign keys row by row; checks and unique keys remain."""
    execute("SET session_replication_role = replica")
    yield
    execute("SET session_replication_role = origin")


@contextmanager
def unindexed(*names: str) -> Iterator[None]:
    """Drop indexes, and make them again after the rows are in."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = ANY(%s)", [list(names)])
        definitions = [definition for (definition,) in cursor.fetchall()]
        for name in names:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for definition in definitions:
            cursor.execute(definition)


def make(solutions: int) -> "Project":
    """Fill an empty, migrated database; returns the project. The user `manager` manages it."""
    from django.contrib.auth.models import User

    from tests import manager_world

    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    execute("SET maintenance_work_mem = '512MB'")
    execute("SET work_mem = '128MB'")
    make_solutions(project, solutions)
    make_scores(project)
    make_labels(project, solutions, [*User.objects.filter(username__in=("annotator", "second")), *_hire(project)])
    make_history(project, people["manager"])
    set_sequences()
    execute("VACUUM ANALYZE")
    return project


def _hire(project: "Project") -> "list[User]":
    from django.contrib.auth.models import User

    from annotation.models import Membership

    users = User.objects.bulk_create(User(username=f"labeller-{number:02}") for number in range(PEOPLE - 2))
    Membership.objects.bulk_create(Membership(project=project, user=user, role="annotator") for user in users)
    return users


FIRST = 1_000  # ids of rows by SQL begin here, behind those of `manager_world`


def make_solutions(project: "Project", solutions: int) -> None:
    """Problems, solutions, steps, and the index of words."""
    from django.db import connection

    from annotation.core.solution_search import words_of_solution
    from annotation.models import Problem, Solution, SolutionWords, Step

    execute("CREATE TEMP TABLE sentence (id int PRIMARY KEY, text text, words text)")
    with connection.cursor() as cursor, cursor.copy("COPY sentence FROM STDIN") as copy:
        for number, text in enumerate(sentences()):
            copy.write_row([number, text, b" ".join(words_of_solution([text])).decode()])
    execute("ANALYZE sentence")
    given = {"project": project.pk, "first": FIRST, "last": FIRST + solutions - 1}
    which = "g * 16 + {}"
    with unchecked():
        insert(
            Problem,
            {
                "id": "g", "project_id": "%(project)s", "text": "text",
                "text_hash": "encode(sha256(convert_to(text, 'UTF8')), 'hex')",
                "source_group": "g::text", "split": SPLIT,
                "domain": "(ARRAY['algebra', 'geometry', 'numbers', 'counting', 'calculus', 'code'])[1 + g %% 6]",
                "reference_answer": "(g %% 997)::text",
            },
            f"""FROM (
                SELECT g, s.text || ' $\\frac{{' || g || '}}{{7}}$' AS text,
                       ('x' || left(encode(sha256(('split:' || g)::bytea), 'hex'), 8))::bit(32)::bigint AS place
                FROM generate_series(%(first)s, %(last)s) g
                JOIN sentence s ON s.id = {CHANCE.format(which.format(15))} %% {WORDS}
            ) made ORDER BY made.g""",
            given,
        )  # fmt: skip
        insert(
            Solution,
            {
                "id": "p.id", "project_id": "p.project_id", "problem_id": "p.id", "split": "p.split",
                "content_hash": "encode(sha256(p.id::text::bytea), 'hex')", "external_id": "'s' || p.id",
                "generator": "(ARRAY['policy-1b','policy-7b','policy-70b'])[1 + p.id %% 3]",
                "final_answer": "(p.id %% 997)::text",
                "final_answer_correct": "CASE p.id %% 5 WHEN 0 THEN NULL WHEN 1 THEN false ELSE true END",
                "outcome_source": "CASE p.id %% 5 WHEN 0 THEN '' ELSE 'given' END",
            },
            "FROM annotation_problem p WHERE p.id >= %(first)s ORDER BY p.id",
            given,
        )  # fmt: skip
        insert(
            Step,
            {
                "id": "g * 16 + place", "solution_id": "g", "position": "place",
                "text": "s.text || ' $x_{' || place || '} = ' || g || '$'",
                "kind": f"CASE place WHEN {STEPS - 1} THEN 'answer' ELSE 'reasoning' END",
            },
            f"""FROM generate_series(%(first)s, %(last)s) g CROSS JOIN generate_series(0, {STEPS - 1}) place
            JOIN sentence s ON s.id = {CHANCE.format(which.format("place"))} %% {WORDS} ORDER BY g, place""",
            given,
        )  # fmt: skip
        with unindexed("solution_by_words"):
            insert(
                SolutionWords,
                {
                    "solution_id": "g",
                    "words": "(string_agg(s.words, ' ') || ' frac x 7 0 1 2 3 4 5 6 ' || g)::tsvector",
                },
                f"""FROM generate_series(%(first)s, %(last)s) g
                CROSS JOIN (SELECT generate_series(0, {STEPS - 1}) UNION SELECT 15) places (place)
                JOIN sentence s ON s.id = {CHANCE.format(which.format("place"))} %% {WORDS} GROUP BY g ORDER BY g""",
                given,
            )


def make_scores(project: "Project") -> None:
    """The scores of every solution by the champion."""
    from annotation.loop.pool.partitions import create_partition
    from annotation.models import PoolScore

    champion = project.model_versions.get(state="champion")
    create_partition(champion)
    steps = f"generate_series(0, {STEPS - 1}) place"
    with unchecked():
        insert(
            PoolScore,
            {
                "model_version_id": "%(version)s", "solution_id": "s.id",
                "mean": f"ARRAY(SELECT {CHANCE.format('s.id * 16 + place')} / 2147483648.0 FROM {steps})",
                "spread": f"ARRAY(SELECT {CHANCE.format('s.id * 32 + place')} / 21474836480.0 FROM {steps})",
                "score": f"{CHANCE.format('s.id * 5')} / 2147483648.0",
                "gain": f"{CHANCE.format('s.id * 3')} / 2147483648.0",
                "expected_seconds": "30 + s.id %% 60", "heads": f"repeat('h', {STEPS * 12 * 2})::bytea",
                "embedding": "repeat('e', 128)::bytea",
            },
            "FROM annotation_solution s WHERE s.project_id = %(project)s",
            {"project": project.pk, "version": champion.pk},
        )  # fmt: skip


def make_labels(project: "Project", solutions: int, users: "list[User]") -> None:
    """Generations, their queue items, leases, annotations with paths and ratings, hidden gold, and audit rows."""
    from annotation.models import (
        Annotation,
        AuditEntry,
        Generation,
        GoldAnswer,
        LabelSource,
        Lease,
        Membership,
        PathStep,
        QueueItem,
        StepRating,
    )  # fmt: skip

    champion = project.model_versions.get(state="champion")
    project.generations.update(state="retired")
    mix = {"acquisition": 10, "control": 2, "overlap": 2, "holdout": 3, "calibration": 1}
    for number in range(1, GENERATIONS + 2):
        Generation.objects.create(
            project=project, number=number, seed=number, budget=solutions // 60, pool_size=solutions, mix=mix,
            acquisition="expected_information", model_version=champion,
            state="open" if number > GENERATIONS else "retired",
        )  # fmt: skip
    members = {m.user_id: m.pk for m in Membership.objects.filter(project=project)}
    given = {
        "project": project.pk, "source": LabelSource.objects.get(project=project, kind="human", name="").pk,
        "users": [user.pk for user in users], "members": [members[user.pk] for user in users],
        "reviewer": Membership.objects.get(project=project, role="reviewer").pk, "first": FIRST,
        # of each generation, by split; the open one has more
        "pool": solutions * 14 // 1000, "holdout": solutions * 25 // 10000, "calibration": solutions // 1000,
        "open": solutions // 10, "gold": solutions // 3000, "done": GENERATIONS,
    }  # fmt: skip
    execute(
        """CREATE TEMP TABLE chosen AS
        SELECT s.id AS solution, s.split, row_number() OVER (PARTITION BY s.split ORDER BY s.id) - 1 AS place
        FROM annotation_solution s WHERE s.project_id = %(project)s AND s.id >= %(first)s""",
        given,
    )
    execute(
        """CREATE TEMP TABLE item AS
        SELECT row_number() OVER (ORDER BY number, place, solution) + %(first)s AS id, number, solution, split, place,
               CASE WHEN split <> 'pool' THEN split WHEN place %% 7 = 0 THEN 'control'
                    WHEN place %% 8 = 0 THEN 'overlap' ELSE 'acquisition' END AS lane
        FROM (
            SELECT solution, split, place,
                   LEAST(place / CASE split WHEN 'pool' THEN %(pool)s WHEN 'holdout' THEN %(holdout)s
                                 ELSE %(calibration)s END, %(done)s) + 1 AS number
            FROM chosen
            WHERE split = 'pool' AND place < %(pool)s * %(done)s + %(open)s
               OR split = 'holdout' AND place < %(holdout)s * (%(done)s + 1)
               OR split = 'calibration' AND place < %(calibration)s * (%(done)s + 1)
        ) drawn""",
        given,
    )
    # A label of each item of a past generation, two in the lane overlap; of the open one, a thirtieth is labelled.
    execute(
        """CREATE TEMP TABLE label AS
        SELECT row_number() OVER (ORDER BY number, place, id, copy) + %(first)s AS id, id AS item, number, solution,
               lane,
               1 + (id * 7 + copy * 11) %% cardinality(%(members)s) AS who,
               now() - make_interval(secs => 86400.0 * (10 * (%(done)s + 1 - number) + 9 - 9 * percent_rank()
                   OVER (PARTITION BY number ORDER BY place, id))) AS at
        FROM item CROSS JOIN generate_series(0, 1) copy
        WHERE (copy = 0 OR lane = 'overlap') AND (number <= %(done)s OR id %% 30 = 0)""",
        given,
    )
    gold = "SELECT solution FROM chosen WHERE split = 'pool' ORDER BY place DESC LIMIT %(gold)s"
    execute(
        f"""CREATE TEMP TABLE answer AS
        SELECT row_number() OVER (ORDER BY g.solution, w.who) AS place, g.solution, w.who,
               1 + (g.solution + w.who) %% (%(done)s + 1) AS number
        FROM ({gold}) g CROSS JOIN generate_series(1, cardinality(%(members)s)) w (who)
        WHERE (g.solution + w.who) %% 2 = 0""",
        given,
    )
    execute(
        """INSERT INTO item SELECT (SELECT max(id) FROM item) + a.place, a.number, a.solution, 'pool', a.place, 'gold'
        FROM answer a""",
        given,
    )
    execute(
        """INSERT INTO label
        SELECT (SELECT max(id) FROM label) + a.place, (SELECT max(id) FROM item WHERE lane <> 'gold') + a.place,
               a.number, a.solution, 'gold', a.who,
               now() - make_interval(days => (10 * (%(done)s + 1 - a.number) + (a.place %% 9))::int)
        FROM answer a""",
        given,
    )
    for table in ("chosen", "item", "label"):
        execute(f"ANALYZE {table}")
    insert(
        QueueItem,
        {
            "id": "i.id", "project_id": "%(project)s", "generation_id": "g.id", "solution_id": "i.solution",
            "split": "i.split", "lane": "i.lane", "rank": "i.place",
            "wanted": "CASE i.lane WHEN 'overlap' THEN 2 ELSE 1 END",
            "done": "COALESCE(l.n, 0)", "state": "CASE WHEN l.n IS NULL THEN 'ready' ELSE 'done' END",
            "inclusion_probability": f"CASE WHEN i.lane <> 'gold' THEN (1+{CHANCE.format('i.id')}) / 2147483648.0 END",
            "gain": f"CASE i.lane WHEN 'acquisition' THEN {CHANCE.format('i.id * 3')} / 2147483648.0 END",
            "expected_seconds": "30 + i.id %% 60",
            "assigned_to_id": "CASE i.lane WHEN 'gold' THEN (%(members)s)[l.who] END",
        },
        """FROM item i JOIN annotation_generation g ON g.project_id = %(project)s AND g.number = i.number
        LEFT JOIN (SELECT item, count(*) AS n, min(who) AS who FROM label GROUP BY item) l ON l.item = i.id
        ORDER BY i.id""",
        given,
    )  # fmt: skip
    made = f"""(
        SELECT l.*, CASE WHEN {CHANCE.format("l.solution * 64 + l.who")} %% 100 < 15
            THEN {CHANCE.format("l.solution * 64 + l.who")} / 100 %% ({STEPS} + 1) - 1
            WHEN {CHANCE.format("l.solution")} %% 100 < 45 THEN -1
            ELSE {CHANCE.format("l.solution")} / 100 %% {STEPS} END AS wrong
        FROM label l
    ) l"""
    with unchecked():
        insert(
            Lease,
            {
                "id": "l.id", "item_id": "l.item", "solution_id": "l.solution", "annotator_id": "(%(members)s)[l.who]",
                "state": "'submitted'", "claimed_at": "l.at - interval '1 minute'",
                "expires_at": "l.at + interval '1 hour'", "ended_at": "l.at",
            },
            "FROM label l ORDER BY l.id",
            given,
        )  # fmt: skip
        label = {
            "project_id": "%(project)s", "source_id": "%(source)s", "submission_id": "gen_random_uuid()",
            "payload_hash": "repeat('0', 64)",
            "finish_reason": """CASE WHEN l.id %% 400 = 0 THEN 'give_up'
                                     WHEN l.wrong < 0 THEN 'solution' ELSE 'found_error' END""",
            "first_error": "CASE WHEN l.id %% 400 > 0 THEN l.wrong END",
            "reason": "CASE WHEN l.id %% 400 = 0 THEN 'I cannot follow.' ELSE '' END",
        }  # fmt: skip
        insert(
            Annotation,
            label | {
                "id": "l.id", "solution_id": "l.solution", "annotator_id": "(%(members)s)[l.who]", "item_id": "l.item",
                "lease_id": "l.id", "lane": "l.lane", "counted": "true",
                "total_ms": f"20000 + {CHANCE.format('l.id')} %% 90000", "submitted_at": "l.at",
            },
            f"FROM {made} ORDER BY l.id",
            given,
        )  # fmt: skip
        insert(  # the references of gold, by the reviewer
            Annotation,
            label | {
                "id": "l.id", "solution_id": "l.solution", "annotator_id": "%(reviewer)s", "total_ms": "60000",
                "submitted_at": "now() - interval '200 days'",
            },
            f"""FROM (SELECT (SELECT max(id) FROM label) + row_number() OVER (ORDER BY solution) AS id, solution,
                      CASE WHEN {CHANCE.format('solution')} %% 100 < 45 THEN -1
                      ELSE {CHANCE.format('solution')} / 100 %% {STEPS} END AS wrong FROM ({gold}) g) l""",
            given,
        )  # fmt: skip
        insert(
            GoldAnswer,
            {"project_id": "%(project)s", "solution_id": "a.solution_id", "annotation_id": "a.id"},
            """FROM annotation_annotation a
            WHERE a.annotator_id = %(reviewer)s AND a.item_id IS NULL AND a.id > %(first)s""",
            given,
        )
        positions = f"""FROM annotation_annotation a CROSS JOIN generate_series(0, {STEPS - 1}) place
        WHERE a.id > %(first)s AND a.first_error IS NOT NULL AND (a.first_error < 0 OR place <= a.first_error)
        ORDER BY a.id, place"""
        step = "a.solution_id * 16 + place"
        insert(
            PathStep,
            {
                "annotation_id": "a.id", "position": "place", "dwell_ms": "a.total_ms / 8",
                "chosen_id": f"CASE WHEN place <> a.first_error THEN {step} END",
            },
            positions,
            given,
        )  # fmt: skip
        insert(
            StepRating,
            {
                "annotation_id": "a.id", "step_id": step, "state": "'rated'",
                "rating": f"""CASE WHEN place = a.first_error THEN -1
                                   WHEN {CHANCE.format(step)} %% 20 = 0 THEN 0 ELSE 1 END""",
                "flagged": f"{CHANCE.format('a.id * 16 + place')} %% 2000 = 0",
            },
            positions,
            given,
        )  # fmt: skip
        for action, at in (("lease.claim", "l.at - interval '1 minute'"), ("annotation.submit", "l.at")):
            insert(
                AuditEntry,
                {
                    "project_id": "%(project)s", "by_id": "(%(users)s)[l.who]", "action": f"'{action}'",
                    "target_type": f"'{action.split('.')[0]}'", "target_id": "l.id::text",
                    "after": """jsonb_build_object('solution', l.solution, 'lane', l.lane)""", "at": at,
                },
                "FROM label l ORDER BY l.at",
                given,
            )  # fmt: skip


def make_history(project: "Project", manager: "User") -> None:
    """Rows of the other lists: disputes, batches in question, the score log, and jobs."""
    from annotation.models import (
        Dispute,
        ExportJob,
        ImportJob,
        LabelBatch,
        ModelVersion,
        RunPoint,
        RunStage,
        ServedScore,
        Snapshot,
        TrainingRun,
    )  # fmt: skip

    given = {"project": project.pk, "first": FIRST, "manager": manager.pk}
    insert(
        Dispute,
        {
            "project_id": "%(project)s", "annotation_id": "a.id",
            "state": "CASE WHEN a.id %% 8 = 0 THEN 'open' ELSE 'dismissed' END",
        },
        "FROM annotation_annotation a WHERE a.id > %(first)s AND a.item_id IS NOT NULL AND a.id %% 67 = 0",
        given,
    )  # fmt: skip
    insert(
        LabelBatch,
        {
            "project_id": "%(project)s", "annotator_id": "m.id", "since": "now() - make_interval(days => g)",
            "until": "now() - make_interval(days => g - 1)", "judge": "'overlap'",
            "state": "CASE WHEN g < 5 AND m.id %% 9 = 0 THEN 'suspected' ELSE 'in_use' END",
            "evidence": "jsonb_build_object('judged', 40, 'differed', 20, 'expected', 8)",
        },
        """FROM annotation_membership m CROSS JOIN generate_series(1, 12) g
        WHERE m.project_id = %(project)s AND m.role = 'annotator'""",
        given,
    )  # fmt: skip
    text = "jsonb_build_array('What is ' || g || ' + 2?', jsonb_build_array(jsonb_build_array('It is 3', 'reasoning')))"
    with unindexed("served_score_by_words"):
        insert(
            ServedScore,
            {
                "request": "gen_random_uuid()", "project_id": "%(project)s", "route": "'score'",
                "aggregate": "'product'", "domain": "(ARRAY['algebra', 'geometry', 'code'])[1 + g %% 3]",
                "model_number": "1", "text_hash": "encode(sha256(g::text::bytea), 'hex')", "text": text,
                "mean": "ARRAY[0.9, 0.5]", "spread": "ARRAY[0.1, 0.1]", "uncertainty": "0.1", "seconds": "0.03",
                "score": f"{CHANCE.format('g')} / 2147483648.0", "first_suspicious": "-1", "user_id": "%(manager)s",
                "asked_at": "now() - make_interval(secs => g * 30)",
            },
            "FROM generate_series(1, 200000) g",
            given,
        )  # fmt: skip
    job = {"project_id": "%(project)s", "requested_by_id": "%(manager)s", "state": "'done'"}
    times = {
        "created_at": "now() - make_interval(hours => g)", "started_at": "now() - make_interval(hours => g)",
        "finished_at": "now() - make_interval(hours => g) + interval '9 minutes'",
    }  # fmt: skip
    jobs = "FROM generate_series(1, 2000) g"
    files = {"filename": "'part-' || g || '.jsonl'", "path": "'x'", "accepted": "500"}
    insert(ImportJob, job | times | files, jobs, given)
    insert(ExportJob, job | times | {"target": "'/exports'", "total": "1000", "done": "1000"}, jobs, given)
    few = "FROM generate_series(2, 60) g"
    insert(
        Snapshot,
        {
            "project_id": "%(project)s", "sha256": "encode(sha256(g::text::bytea), 'hex')", "path": "'x'",
            "counts": "jsonb_build_object('solutions', g * 1000, 'annotations', g * 1000)",
            "created_at": "now() - make_interval(days => 2 * g)",
        },
        few,
        given,
    )  # fmt: skip
    insert(
        ModelVersion,
        {
            "project_id": "%(project)s", "number": "g", "state": "'retired'", "path": "'m'",
            "sha256": "lpad(g::text, 64, '0')",
            "metrics": "v.metrics", "gate": "v.gate", "promoted_at": "now() - make_interval(days => 70 - g)",
        },
        f"""{few} CROSS JOIN
        (SELECT metrics, gate FROM annotation_modelversion WHERE project_id = %(project)s LIMIT 1) v""",
        given,
    )  # fmt: skip
    insert(
        TrainingRun,
        job | times | {
            "number": "g", "trigger": "'labels'", "seed": "1",
            "model_version_id": """(SELECT id FROM annotation_modelversion
                                    WHERE project_id = %(project)s AND number = g)""",
        },
        few,
        given,
    )  # fmt: skip
    insert(
        RunStage,
        {
            "run_id": "r.id", "name": "s.name", "order": 's."order"', "state": "'done'", "progress": "1",
            "started_at": "r.started_at", "finished_at": "r.finished_at",
        },
        """FROM annotation_trainingrun r CROSS JOIN (SELECT name, "order" FROM annotation_runstage) s
        WHERE r.project_id = %(project)s AND r.number > 1""",
        given,
    )  # fmt: skip
    insert(
        RunPoint,
        {"run_id": "r.id", "stage": "'train'", "step": "g", "of": "500", "loss": "1.0 / g"},
        "FROM annotation_trainingrun r CROSS JOIN generate_series(1, 500) g WHERE r.project_id = %(project)s",
        given,
    )


def set_sequences() -> None:
    """Let the next row of each table get an id behind those made here."""
    from django.apps import apps
    from django.core.management.color import no_style
    from django.db import connection

    models = list(apps.get_app_config("annotation").get_models())
    for statement in connection.ops.sequence_reset_sql(no_style(), models):
        execute(statement)
