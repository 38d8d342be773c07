"""`reproduce`: measures heads on named backbones across sets of labelled solutions."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import Progress, at_least, folder, input_file, say
from prm.config import TrainConfig
from prm.errors import DataError
from prm.files import locked_folder, write_atomic, write_json
from prm.messages import Message

REPORT_FILE, REPLAY_FILE, TABLES_FILE = "report.json", "replay.json", "tables.md"


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "reproduce", help="learn from one set of labelled solutions and measure on the others, for named backbones"
    )
    parser.add_argument(
        "--data", type=input_file, nargs="+", required=True, help="labelled solutions in any format, one file per set"
    )
    parser.add_argument("--base", nargs="+", default=["tiny"], help="backbones: names of the hub or local folders")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results; a stopped run resumes there")
    parser.add_argument(
        "--most", type=at_least(1), help="solutions per set, of randomly chosen problems (default: all)"
    )
    parser.add_argument("--seeds", type=at_least(1), default=3, help="number of training seeds")
    parser.add_argument(
        "--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="precision of the backbones"
    )
    parser.add_argument("--cache", type=folder, help="cache folder for features (default OUT/cache)")
    parser.add_argument("--bootstrap", type=at_least(0), default=1000, help="bootstrap resamples for the intervals")
    parser.add_argument("--epochs", type=at_least(1), default=TrainConfig().epochs, help="epochs of each training")
    parser.add_argument("--replay", nargs="+", metavar="SET", help="sets to replay active learning on, together")
    parser.add_argument(
        "--functions",
        nargs="+",
        default=["random", "wrong_answers", "contradiction"],
        help="functions of the replay, each with and without graded answers; including random",
    )
    parser.add_argument("--processes", type=at_least(1), default=1, help="processes of the replay")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    with locked_folder(options.out):
        _reproduce(options)


def _reproduce(options: argparse.Namespace) -> None:
    from prm.manifest import file_sha256
    from prm.processes import use_half_the_cores
    from prm.reproducing.running import measure_sets, plan_replay, replay_sets
    from prm.reproducing.sets import read_sets
    from prm.reproducing.words import tables
    from prm.simulation.words import table
    from prm.training.caches import Cache

    use_half_the_cores()
    config = TrainConfig(precision=options.precision, epochs=options.epochs)
    cache = options.cache or options.out / "cache"
    sets = read_sets(options.data, options.most, seed=0)
    replayed = _replayed(options.replay, {labelled.name: labelled for labelled in sets})
    source = (
        plan_replay(
            replayed, functions=options.functions, config=config, seeds=options.seeds, cache=cache, out=options.out
        )
        if replayed
        else None
    )
    digests = {one.name: file_sha256(path) for one, path in zip(sets, options.data, strict=True)}
    report = measure_sets(
        sets,
        digests,
        options.base,
        config=config,
        seeds=options.seeds,
        bootstrap=options.bootstrap,
        cache=Cache(cache),
        say=say,
        on_progress=Progress(),
    )
    write_json(options.out / REPORT_FILE, report)
    parts, replays = [tables(report)], []
    if source:
        for base in options.base:
            replay = replay_sets(
                source, base, bootstrap=options.bootstrap, out=options.out, processes=options.processes, say=say
            )
            replays.append(replay)
            parts.append(f"## Replay with {base}\n\n{table(replay)}")
            write_json(options.out / REPLAY_FILE, replays)
    text = "\n\n".join(parts)
    write_atomic(options.out / TABLES_FILE, f"{text}\n".encode())
    say(text)


def _replayed(names: list[str] | None, sets: dict[str, Any]) -> list[Any]:
    """The sets of these names. Raises DataError for an unknown one."""
    for name in names or ():
        if name not in sets:
            raise DataError(Message("unregistered_name", what="set", name=name, known=", ".join(sets)))
    return [sets[name] for name in names or ()]
