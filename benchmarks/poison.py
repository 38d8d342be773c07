"""Measures the effect of a batch of poisoned labels on a project with a champion, with and without its defences.

    python -m benchmarks.poison --json var/poison.json

Simulated annotators have labelled the first generation of a sandbox project, which has a champion. In the second
generation one account, careful before, turns: it flips its ratings, rates everything as right, or answers by chance, in
10 % or 30 % of all labels, also on the holdout. In each case a model is trained on the same labels three times: with
equal weights, weighted by reliability, and without the labels that the alarm names. F1 is on true labels of new sandbox
solutions. Starts embedded servers in a temporary folder.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from launch.embedded import servers
from prm.files import write_json
from prm.sandbox.annotators import Reading, StepReading

HONEST = {"careful": 4, "average": 3, "lenient": 1}
TURNCOAT = "turncoat"
KINDS = ("flipped", "all right", "by chance")
SHARES = (0.1, 0.3)
ARMS = ("alike", "weighed", "set aside")
LOOK_EVERY = 10  # labels between two checks of the watch
SEED = 20261121
SAID_IN = 20_000  # ms a step


class Arm(msgspec.Struct):
    """One way to train on a case's labels: the challenger's F1 on true labels, and the gate's verdict."""

    f1: tuple[float, float | None, float | None]
    auroc: float
    promoted: bool
    gain: float | None
    verdict: str


class Case(msgspec.Struct):
    """The results of a case. `alarm_after` counts poisoned labels before the alarm, `wronged` false alarms."""

    kind: str
    share: float
    poisoned: int
    labels: int
    judge: str = ""
    alarm_after: int | None = None
    suspected: int = 0
    set_aside_poisoned: int = 0
    set_aside_honest: int = 0
    wronged: list[str] = []
    informedness: dict[str, float] = {}
    arms: dict[str, Arm] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=1500)
    parser.add_argument("--first", type=int, default=400, help="solutions labelled before")
    parser.add_argument("--second", type=int, default=250, help="solutions labelled with the turncoat")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if name in os.environ}
        with servers(root, external=given, durable=False) as addresses:
            os.environ.update(addresses, VAR_DIR=str(root), DJANGO_SETTINGS_MODULE="config.settings.local")
            os.environ.setdefault("LOG_LEVEL", "WARNING")
            import django

            django.setup()
            bench = Bench(root, options)
            bench.prepare()
            cases = [bench.case("nobody turns", 0.0), *(bench.case(k, s) for s in SHARES for k in KINDS)]
    print(f"\nThe champion before: F1 {_figure(bench.before)}.\n")
    print(_table(cases))
    if options.json:
        write_json(
            options.json,
            {"before": bench.before, "cases": cases, "options": {k: str(v) for k, v in vars(options).items()}},
        )


class Bench:
    """The project before the second generation, of which every case gets a copy."""

    def __init__(self, root: Path, options: argparse.Namespace) -> None:
        from annotation.loop.gateway.sandbox import Sandbox
        from research.soak.quality import fresh_truth

        self.root, self.options = root, options
        self.sandbox = Sandbox(solutions=options.solutions, seed=options.seed)
        self.truth = fresh_truth(seed=options.seed)
        self.before: tuple[float, float | None, float | None] = (0.0, None, None)

    def prepare(self) -> None:
        """Import, label, train and promote; the database and files then are the template of every case."""
        from django.contrib.auth.models import User
        from django.core.management import call_command

        from annotation.core.membership.members import add_member
        from annotation.core.membership.projects import change_project, create_project
        from annotation.files.record_import import import_records
        from annotation.loop import registry
        from annotation.loop.pool.scoring import help_scoring
        from annotation.loop.rounds import pipeline, runs
        from annotation.loop.selection.generations import open_first_generation

        with self.copy_of(None, "base"):
            call_command("migrate", verbosity=0)
            manager = User.objects.create_user("manager", is_staff=True)
            policy = {
                "training_sources": ["human", "simulated"],
                "generation_budget": self.options.first,
                "mix": {"control": 0.2, "holdout": 0.2, "calibration": 0.1, "overlap": 0.12},
                "gate_tolerance": 0.05,
            }
            project = create_project(by=manager, name="Poison", slug="poison", policy=policy)
            import_records(project=project, records=self.sandbox.records(), by=manager)
            for name in (*HONEST, TURNCOAT):
                add_member(
                    by=manager, project=project, user=User.objects.create_user(name), role="annotator", kind="simulated"
                )
            open_first_generation(by=manager, project=project, seed=self.options.seed)
            self.label(project, kind="", share=0.12)
            change_project(by=manager, project=project, policy=policy | {"generation_budget": self.options.second})
            project.refresh_from_db()
            run = runs.prepare_run(by=manager, project=project, trigger="manual", seed=self.options.seed)
            run = pipeline.run_through(run)
            if run.model_version is None:
                raise SystemExit(f"No champion to poison: {run.error}")
            if registry.champion_of(project) is None:  # the benchmark is about a champion that serves
                registry.promote_version(by=manager, version=run.model_version)
            champion = registry.champion_of(project)
            while help_scoring(champion).live:  # as workers do; the alarm also uses these scores
                pass
            self.before, _ = self.measure(champion)
            print(f"Champion: F1 {_figure(self.before)}", flush=True)

    def case(self, kind: str, share: float) -> Case:
        """Label the second generation, watch it, and train on it in each way."""
        from annotation.labels.annotators.batches import labels_of_batch, set_aside
        from annotation.labels.consensus.fits import fit_for, scope_of
        from annotation.models import LabelBatch, Project

        name = f"case_{kind.replace(' ', '_')}_{round(100 * share)}"
        with self.copy_of("base", name):
            project = Project.objects.get(slug="poison")
            found = self.label(project, kind=kind, share=share)
            names = {str(m.pseudonym): m.user.username for m in project.memberships.select_related("user")}
            fit = fit_for(by=None, project=project, scope=scope_of(project))
            found.suspected = LabelBatch.objects.count()
            found.informedness = {names[one.name]: round(one.reliability.value, 3) for one in fit.report.annotators}
        for arm in ARMS:
            if arm == "set aside" and not found.suspected:
                found.arms[arm] = found.arms["weighed"]
                continue
            with self.copy_of(name, f"{name}_{arm.replace(' ', '_')}"):
                project = Project.objects.get(slug="poison")
                project.policy["quality"] = {"consensus": "shares" if arm == "alike" else "reliability"}
                project.save()
                if arm == "set aside":
                    for batch in LabelBatch.objects.all():
                        mine = batch.annotator is not None and batch.annotator.user.username == TURNCOAT and bool(kind)
                        poisoned = labels_of_batch(batch).filter(comment="poison").count()
                        found.set_aside_poisoned += poisoned
                        found.set_aside_honest += labels_of_batch(batch).count() - poisoned
                        if not mine:
                            found.wronged.append(batch.annotator.user.username if batch.annotator else "a source")
                        set_aside(by=None, batch=batch, reason="the alarm")
                found.arms[arm] = self.learn(project)
        print(_line(found), flush=True)
        return found

    def label(self, project: Any, *, kind: str, share: float) -> Case:
        """Label the whole queue. The poisoner gives a `share` of the labels, honest ones if `kind` is empty."""
        from django.contrib.auth.models import User

        from annotation.labels.annotators.batch_watch import watch
        from annotation.management.demo.labelling import submission_of
        from annotation.work.claiming import claim_next
        from annotation.work.labelling.submission import submit_annotation

        rng = np.random.default_rng([self.options.seed, round(100 * share), len(kind)])
        users = {name: User.objects.get(username=name) for name in (*HONEST, TURNCOAT)}
        poisoning = kind in KINDS
        honest = share if poisoning or not kind else 0.12
        crowd = {name: (1 - honest) * pace / sum(HONEST.values()) for name, pace in HONEST.items()} | {TURNCOAT: honest}
        found = Case(kind, share, 0, 0)
        while crowd:
            chances = np.array(list(crowd.values()))
            name = str(rng.choice(list(crowd), p=chances / chances.sum()))
            lease = claim_next(by=users[name], project=project, holding=[]).lease
            if lease is None:
                del crowd[name]
                continue
            profile = "careful" if name == TURNCOAT else name
            reading = self.sandbox.read(lease.solution.external_id, profile=profile, rng=rng)
            bad = name == TURNCOAT and poisoning
            if bad:
                steps = lease.solution.steps.filter(alternative=0).count()
                reading = poisoned(kind, reading, steps, rng)
            submission = submission_of(lease, reading)
            submission = msgspec.structs.replace(submission, comment="poison" if bad else "")
            submit_annotation(by=users[name], project=project, submission=submission)
            found.labels += 1
            found.poisoned += bad
            if kind and found.labels % LOOK_EVERY == 0:
                for batch in watch(project):
                    if batch.annotator and batch.annotator.user.username == TURNCOAT and found.alarm_after is None:
                        found.judge, found.alarm_after = batch.judge, found.poisoned
        if kind:
            watch(project)
        return found

    def learn(self, project: Any) -> Arm:
        """Run a round up to the gate, and measure the challenger on true labels."""
        from annotation.loop.rounds import pipeline, runs

        run = runs.prepare_run(by=None, project=project, trigger="manual", seed=self.options.seed + 1)
        while run.stage.name != "promote":
            if not pipeline.perform_next(run):
                run.refresh_from_db()
                raise SystemExit(run.error)
        run.refresh_from_db()
        version = run.model_version
        f1, auroc = self.measure(version)
        return Arm(f1, auroc, version.gate.promote, version.gate.gain, version.gate.sentence)

    def measure(self, version: Any) -> tuple[tuple[float, float | None, float | None], float]:
        from django.conf import settings

        from prm.evaluation import evaluate
        from prm.scoring import Scorer

        scorer = Scorer.load(settings.STATE_ROOT / "models" / version.path)
        whole = evaluate(self.truth, list(scorer.score(self.truth)), threshold=scorer.threshold).overall
        f1 = whole.processbench_f1
        return (f1.value, f1.low, f1.high), whole.step_auroc.value

    @contextmanager
    def copy_of(self, template: str | None, name: str) -> Iterator[None]:
        """Use a database and folders that are copies of those named `template`."""
        import psycopg
        from django.conf import settings
        from django.db import connection

        connection.close()
        parameters = connection.get_connection_params() | {"dbname": "postgres", "autocommit": True}
        with psycopg.connect(**parameters) as server:
            server.execute(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        folder = self.root / "cases" / name
        if template:
            shutil.copytree(self.root / "cases" / template, folder)
        folder.mkdir(parents=True, exist_ok=True)
        for setting in ("models", "runs", "snapshots"):
            setattr(settings, f"{setting[:-1].upper()}_ROOT", folder / setting)
        connection.settings_dict["NAME"] = name
        try:
            yield
        finally:
            connection.close()


def poisoned(kind: str, honest: Reading, steps: int, rng: np.random.Generator) -> Reading:
    """The poisoned ratings in place of honest ones."""
    if kind == "all right" or (kind == "flipped" and honest.first_error >= 0):
        error = -1
    elif kind == "flipped":
        error = int(rng.integers(steps))
    else:
        error = int(rng.integers(-1, steps))
    rated = [StepReading("rated", 1, SAID_IN)] * (steps if error < 0 else error)
    return Reading([*rated, StepReading("rated", -1, SAID_IN)] if error >= 0 else rated, error)


def _figure(value: tuple[float, float | None, float | None]) -> str:
    return f"{value[0]:.3f}" + (f" [{value[1]:.3f}, {value[2]:.3f}]" if value[1] is not None else "")


def _table(cases: list[Case]) -> str:
    head = (
        "| turncoat | of the labels | alarm by, after | set aside: poisoned, honest | informedness "
        "| F1 all alike; gate | F1 weighed; gate | F1 set aside; gate |"
    )
    return "\n".join([head, "|---" * 8 + "|", *(_line(case) for case in cases)])


def _line(case: Case) -> str:
    alarm = f"{case.judge}, {case.alarm_after} of {case.poisoned}" if case.alarm_after is not None else "none"
    arms = [f"{_figure(arm.f1)}; {'promoted' if arm.promoted else 'not promoted'}" for arm in case.arms.values()]
    wronged = f" (of {', '.join(case.wronged)} too)" if case.wronged else ""
    aside = f"{case.set_aside_poisoned}, {case.set_aside_honest}{wronged}"
    trust = f"{case.informedness.get(TURNCOAT, float('nan')):.2f}"
    return "| " + " | ".join([case.kind, f"{case.share:.0%}", alarm, aside, trust, *arms]) + " |"


if __name__ == "__main__":
    sys.exit(main())
