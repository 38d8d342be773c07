"""`serve`: scores solutions over HTTP."""

import argparse
from typing import Any

from prm.commands.common import MODEL_HELP, at_least, load_scorer, say


def add(commands: Any) -> None:
    parser = commands.add_parser("serve", help="score solutions over HTTP")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; there is no authentication")
    parser.add_argument("--port", type=at_least(0), default=8001, help="0 selects a free port")
    parser.add_argument(
        "--long", choices=("null", "window"), default="null", help="steps beyond the context: no score, or in windows"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.scoring.http import ADDRESS, scoring_server

    scorer = load_scorer(options.model, long=options.long)
    with scoring_server(scorer, host=options.host, port=options.port) as server:
        say(f"http://{options.host}:{server.server_address[1]}{ADDRESS} scores with {options.model}; Ctrl-C ends it")
        server.serve_forever()
