"""`card`, `export`, `push`, `adopt` and `calibrate`: rewrite a model's card, move it, and fit its threshold again."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from prm.commands.common import (
    HUB_LABEL,
    add_mapping,
    at_least,
    data_file,
    input_file,
    mapping_of,
    say,
)
from prm.errors import DataError
from prm.files import write_json
from prm.messages import Message, write_share
from prm.processes import use_half_the_cores

WORDS = {
    "human_labels": "who labelled, by which instructions, and how they were paid and checked",
    "tool_scaffold": "the tools of the policy models, and their runtime",
    "deployment_monitor": "the monitoring of the model in use",
}


def add(commands: Any) -> None:
    card = commands.add_parser("card", help="rewrite a model's card")
    card.add_argument("--model", type=Path, required=True, help="model folder; its CARD.md is replaced")
    card.add_argument(
        "--evaluation", type=input_file, nargs="*", default=[], help="JSON files from `evaluate` to include"
    )
    for name, meaning in WORDS.items():
        card.add_argument(f"--{name.replace('_', '-')}", metavar="WORDS", help=meaning)
    card.set_defaults(run=write_card)
    export = commands.add_parser("export", help="write a model as a Hugging Face folder with a head file")
    export.add_argument("--model", type=Path, required=True, help="folder of a trained model")
    export.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    export.add_argument(
        "--layout",
        choices=("ensemble", "token_classification", "process_reward"),
        default="ensemble",
        help="the exact ensemble with its own head file, or one distilled head that other tools load",
    )
    export.add_argument("--data", type=data_file, help="solutions to distil on; a distilled layout needs them")
    add_mapping(export)
    export.set_defaults(run=export_model)
    push = commands.add_parser("push", help="upload an exported model to the Hugging Face hub")
    push.add_argument("--source", type=Path, required=True, help="a folder that `export` wrote")
    push.add_argument("--to", type=_hub_name, required=True, metavar="hub:OWNER/NAME", help="the model on the hub")
    push.add_argument("--public", action="store_true", help="everyone can read a new model (default: private)")
    push.add_argument("--replace", action="store_true", help="replace the files of an existing model")
    push.set_defaults(run=push_model)
    adopt = commands.add_parser("adopt", help="convert a model from elsewhere to a model folder")
    adopt.add_argument("--source", type=Path, required=True, help="a folder with safetensors weights")
    adopt.add_argument("--out", type=Path, required=True, help="the model folder to write")
    adopt.add_argument("--separator", default="\n", help="a token classifier's end-of-step token (default: a line end)")
    adopt.add_argument("--good", type=at_least(0), default=1, help="a token classifier's class of correct steps")
    adopt.add_argument(
        "--answers",
        choices=("math_shepherd", "rlhflow"),
        help="the layout of a causal LM that answers each step with + or -",
    )
    adopt.set_defaults(run=adopt_model)
    calibrate = commands.add_parser("calibrate", help="fit a model's threshold to solutions of another kind")
    calibrate.add_argument("--model", type=Path, required=True, help="model folder; it stays as it is")
    calibrate.add_argument(
        "--data",
        type=data_file,
        required=True,
        help="solutions with labels or with graded answers, in any format, or hub:OWNER/NAME",
    )
    add_mapping(calibrate)
    calibrate.add_argument("--out", type=Path, required=True, help="the model folder to write")
    calibrate.set_defaults(run=calibrate_model)


def write_card(options: argparse.Namespace) -> None:
    """Rewrite the card with new evaluations and people's notes."""
    from prm.cards.folder import ABOUT_FILE, add_evaluations, read_about, write_card

    add_evaluations(options.model, options.evaluation)
    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    if words:
        about = msgspec.structs.replace(read_about(options.model), **words)
        write_json(options.model / ABOUT_FILE, about)
    say(write_card(options.model))


def export_model(options: argparse.Namespace) -> None:
    """Write the model as a Hugging Face folder that loads without this library."""
    from prm.portable.exporting import export_folder

    if options.layout != "ensemble":
        _export_classifier(options)
        return
    described = export_folder(options.model, options.out)
    say(f"{len(described.checksums)} files in {options.out}; its README.md explains how to score with them")


def _export_classifier(options: argparse.Namespace) -> None:
    from prm.portable.classifiers import export_classifier

    if options.data is None:
        raise DataError(Message("distilling_needs_data", layout=options.layout))
    loss = export_classifier(
        options.model, options.out, layout=options.layout, data=options.data, mapping=mapping_of(options)
    )
    say(
        f"{options.out}: on {loss.steps} other steps, the mean difference from the model is {loss.difference:.4f}, and "
        f"{write_share(loss.agreement, 1)} have the same verdict; its README.md explains how to score with it"
    )


def push_model(options: argparse.Namespace) -> None:
    """Upload an exported folder with its card."""
    from prm.portable.pushing import push

    say(push(options.source, options.to, public=options.public, replace=options.replace))


def _hub_name(text: str) -> str:
    if not text.startswith(HUB_LABEL):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form {HUB_LABEL}OWNER/NAME")
    return text.removeprefix(HUB_LABEL)


def adopt_model(options: argparse.Namespace) -> None:
    """Convert a model from elsewhere to a model folder of this library."""
    from prm.portable.importing import adopt

    manifest = adopt(
        options.source, options.out, separator=options.separator, good=options.good, answers=options.answers
    )
    say(f"{options.out}: {manifest.outside.kind if manifest.outside else 'a model of this library'}")


def calibrate_model(options: argparse.Namespace) -> None:
    """Copy a model with a threshold fitted to the data."""
    from prm.manifest import read_manifest
    from prm.recalibration import recalibrate

    use_half_the_cores()
    manifest = recalibrate(options.model, options.out, data=options.data, mapping=mapping_of(options))
    before, kind = read_manifest(options.model).threshold, manifest.fitted_on
    say(
        f"{options.out}: threshold {manifest.threshold}, before {before}, "
        f"fitted on {kind} of {Message('n_solutions', n=manifest.counts.held_solutions)}"
    )
