"""`card`: rewrites the model card with later measurements and with text that only people can write."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from prm.commands.common import input_file, say

WORDS = {
    "human_labels": "who labelled, by which instructions, how they were paid and checked",
    "tool_scaffold": "what the policy models could call, and what ran it",
    "deployment_monitor": "what watches the model in use",
}


def add(commands: Any) -> None:
    parser = commands.add_parser("card", help="rewrite a model's card")
    parser.add_argument("--model", type=Path, required=True, help="model folder; its CARD.md is replaced")
    parser.add_argument(
        "--evaluation", type=input_file, nargs="*", default=[], help="JSON files from `evaluate` to include"
    )
    for name, meaning in WORDS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="WORDS", help=meaning)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.cards.folder import add_evaluation, read_about, write_about, write_card

    for path in options.evaluation:
        add_evaluation(options.model, path)
    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    if words:
        write_about(options.model, msgspec.structs.replace(read_about(options.model), **words))
    say(write_card(options.model))
