"""`serve`: scores solutions over HTTP."""

import argparse
from typing import Any

from prm.commands.common import MODEL_HELP, load_scorer, say
from prm.errors import DataError
from prm.messages import Message


def add(commands: Any) -> None:
    parser = commands.add_parser("serve", help="score solutions over HTTP")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; there is no authentication")
    parser.add_argument("--port", type=_port, default=8001, help="0 selects a free port")
    parser.add_argument(
        "--long", choices=("null", "window"), default="null", help="steps beyond the context: no score, or in windows"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.scoring.http import ADDRESS, scoring_server

    scorer = load_scorer(options.model, long=options.long)
    try:
        server = scoring_server(scorer, host=options.host, port=options.port)
    except OSError as error:
        raise DataError(
            Message("address_unusable", host=options.host, port=options.port, error=error.strerror)
        ) from None
    with server:
        say(f"http://{options.host}:{server.server_address[1]}{ADDRESS} scores with {options.model}; Ctrl-C ends it")
        server.serve_forever()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)
