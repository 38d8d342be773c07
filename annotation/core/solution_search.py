"""Searches problems and steps: which words a text has, and the solutions that a query matches."""

import re
from collections.abc import Iterable

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, Value

from annotation.core.statements import unnest_ids
from annotation.models import SolutionWords, Step

MOST_CHARACTERS = 200_000  # of a solution: its words are then smaller than the 1 MB that a text search vector holds
SHORTEST_PREFIX = 2
LONGEST_WORD = 64  # a longer one is divided
MOST_NAMED = 10_000  # solutions with all words of a query that the statement of a list names one by one
_ASCII = b"".join(chr(code).lower().encode() if chr(code).isalnum() else b" " for code in range(128)) + bytes(128)
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]{{1,{LONGEST_WORD}}}")
_TERM = re.compile(r'"([^"]+)"?|(\S+)')


def words_of(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits between signs, and each ideograph by itself."""
    return _WORD.findall(text.lower())


def words_of_solution(texts: Iterable[str]) -> frozenset[bytes]:
    """The distinct words of a problem and its steps in UTF-8."""
    text = "\n".join(texts)[:MOST_CHARACTERS]
    if text.isascii():  # ten times as fast
        words = frozenset(text.encode().translate(_ASCII).split())
        if max(map(len, words), default=0) <= LONGEST_WORD:
            return words
    return frozenset(word.encode() for word in words_of(text))


class WordVector(bytes):
    """A text search vector without positions, in PostgreSQL's binary form: a tenth of the memory of its words."""


def vector_of_solution(texts: Iterable[str]) -> WordVector:
    """The distinct words of a problem and its steps as the search index holds them."""
    words = words_of_solution(texts)
    return WordVector(len(words).to_bytes(4) + b"\0\0\0".join([*words, b""]))


def matching(query: str) -> Q:
    """The solutions whose problem and steps together match all terms of a query.

    A term is a word, the beginning of one, or a phrase in quotation marks. The index finds its words. A term with signs
    or several words also has to stand in one of the texts as it is.

    This reads the index, because PostgreSQL cannot estimate how many texts have the beginning of a word: for a rare one
    it would read all solutions in the order of the list.
    """
    found, condition = [], Q()
    for phrase, plain in _TERM.findall(query):
        term = phrase or plain
        parts = words_of(term)
        found += [f"'{part}'" for part in parts[:-1]]
        if parts and not (len(parts) > 1 and len(parts[-1]) < SHORTEST_PREFIX and parts[-1].isascii()):
            found.append(f"'{parts[-1]}'" + (":*" if len(parts[-1]) >= SHORTEST_PREFIX and not phrase else ""))
        if parts != [term.lower()]:
            steps = Step.objects.filter(solution=OuterRef("pk"), text__icontains=term)
            condition &= Q(problem__text__icontains=term) | Q(Exists(steps))
    if found:
        rows = SolutionWords.objects.filter(_HasWords(F("words"), Value(" & ".join(found))))
        few = list(rows.values_list("solution", flat=True)[: MOST_NAMED + 1])
        condition &= Q(pk__in=unnest_ids(few) if len(few) <= MOST_NAMED else rows.values("solution"))
    return condition


class _HasWords(Func):
    template = "%(expressions)s::tsquery"
    arg_joiner = " @@ "
    output_field = BooleanField()
