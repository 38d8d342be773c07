"""Write the vocabulary that the front end shares with the server as TypeScript."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from annotation.core.bounds import LONGEST_TEXT
from annotation.models.scheme import DEFAULT_KEYS
from prm import vocabulary

UNIONS = {
    "Answer": vocabulary.WORDS,
    "Rating": vocabulary.RATINGS,
    "FinishReason": vocabulary.FINISH_REASONS,
    "GivenUp": vocabulary.GIVEN_UP,
    "StepKind": vocabulary.STEP_KINDS,
}
CONSTANTS = {
    "ANSWERS": vocabulary.WORDS,
    "RATINGS": vocabulary.RATINGS,
    "RATING_OF": vocabulary.RATING_OF,
    "ANSWER_OF": {rating: answer for answer, rating in vocabulary.RATING_OF.items()},
    "LONGEST_TEXT": LONGEST_TEXT,
    "DEFAULT_KEYS": DEFAULT_KEYS,
}


class Command(BaseCommand):
    help = "Print the words that the front end shares with the server, as TypeScript."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        self.stdout.write("/** The server's vocabulary; `make types` writes this file. */")
        for name, words in UNIONS.items():
            self.stdout.write(f"export type {name} = {' | '.join(map(json.dumps, words))};")
        for name, value in CONSTANTS.items():
            self.stdout.write(f"export const {name} = {json.dumps(value, indent=2)} as const;")
