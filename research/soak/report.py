"""The report of a soak test: tables, a file, and whether all invariants held."""

import argparse
import os
import platform
import subprocess
from pathlib import Path

import msgspec

from annotation.models import Project
from launch.options import BASE_DIR
from prm.files import write_json
from research.soak.course import Course
from research.soak.project import TOLERANCE
from research.soak.quality import Figure, Served, champion_history, falls


def finish(options: argparse.Namespace, course: Course, var: Path) -> int:
    """Measure the champions, print and write the report; returns 0 if everything held, else 1."""
    history = champion_history(course.project, seed=options.seed, folder=var) if course.generations else []
    worse = falls(history, tolerance=TOLERANCE)
    rose = bool(history) and history[-1].truth.value > history[0].truth.value
    kills = ", ".join(f"{course.struck.count(name)} x {name}" for name in sorted(set(course.struck)))
    print(f"\nKilled: {kills}; annotators' programs died {course.client_deaths} times.")
    print(f"{course.submissions:,} submissions acknowledged in {course.seconds / 60:.1f} minutes.\n")
    print("| invariant | checks | broken |\n|---|---|---|")
    for name, broken in course.broken.items():
        print(f"| {name} | {course.checks} | {len(broken)} |")
    print("\n| after generation | serves | trained on | F1, all holdout labels | F1, fresh truth | change on truth |")
    print("|---" * 6 + "|")
    for one in history:
        print(_line(one))
    print(_live_comparisons(course.project))
    for problem in [*worse, *course.failed_runs, *([course.hung] if course.hung else [])]:
        print(f"\n{problem}")
    held = not (any(course.broken.values()) or worse or course.hung) and rose
    print(f"\n{'Everything held.' if held else 'NOT everything held.'}")
    if options.json:
        write_json(options.json, _document(options, course, history, worse, held))
    return 0 if held else 1


def _line(one: Served) -> str:
    name = f"model {one.number}" if one.number else "zero-label baseline"
    change = str(one.change_on_truth) if one.change_on_truth else ""
    after = one.generation - 1 if one.number else "-"
    return f"| {after} | {name} | {one.trained_on} | {one.labels} | {one.truth} | {change} |"


def _live_comparisons(project: Project) -> str:
    """The results of each round's shadow models: acquisition beside control on equal label-seconds."""
    rows = [
        f"| {one.generation} | {one.start_labels} | {one.acquisition_labels} | {one.control_labels} "
        f"| {one.acquisition_seconds:,.0f} | {one.control_seconds:,.0f} | {one.acquisition_f1:.3f} "
        f"| {one.control_f1:.3f} | {Figure(one.gain, one.low, one.high)} |"
        for one in project.shadow_comparisons.order_by("pk")
    ]
    head = (
        "| up to generation | common start | labels: acquisition | control | seconds: acquisition | control |"
        " F1: acquisition | control | gain |"
    )
    return "\n".join(["", head, "|---" * 9 + "|", *rows])


def _document(
    options: argparse.Namespace, course: Course, history: list[Served], worse: list[str], held: bool
) -> dict[str, object]:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=BASE_DIR, capture_output=True, text=True).stdout.strip()
    return {
        "commit": commit,
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        "options": {name: str(value) for name, value in vars(options).items()},
        "held": held,
        "minutes": course.seconds / 60,
        "generations_seconds": course.generations,
        "submissions": course.submissions,
        "killed": course.struck,
        "client_deaths": course.client_deaths,
        "broken": course.broken,
        "failed_runs": course.failed_runs,
        "hung": course.hung,
        "worse": worse,
        "champions": msgspec.to_builtins(history),
    }
