r"""Extracts a solution's final answer, in time linear in the text's length."""

import re
from dataclasses import dataclass

from prm.answers.quantities import quantity

READ = 20_000  # characters at a text's end, where the answer is
LONGEST_PHRASE = 400

BRACES = re.compile(r"(?P<box>\\(?:boxed|fbox)[ \t\n]{0,3}\{)|\\[{}\\]|(?P<open>\{)|(?P<close>\})")
BARE_BOX = re.compile(r"\\boxed[ \t]{1,3}([^\s{}\\$]{1,40})")
MARKED = re.compile(
    r"(?:####|\banswer(?:[ \t]{0,2}[*_]{0,2}:|[ \t]{1,2}(?:is|was)\b[ \t]{0,2}:?)[*_]{0,2})"
    r"[ \t]{0,9}(?:\n{1,2}[ \t]{0,9})?(\S.{0,400})",
    re.IGNORECASE,
)
MATHS = r"(?:\$\$[^$]{1,400}\$\$|\$(?!\s)[^$\n]{1,400}(?<!\s)\$(?!\d)|\\\([^\n]{1,400}?\\\)|\\\[.{1,400}?\\\])"
SPAN = re.compile(MATHS, re.DOTALL)
SPANS = re.compile(rf"{MATHS}(?:\s{{0,2}}(?:,|,?\s{{0,2}}(?:and|or))\s{{0,2}}{MATHS}){{0,20}}", re.DOTALL)
CHOICE = re.compile(r"\(?([A-J])\)(?!\w)|([A-J])(?=\s{0,2}(?:[.:,]|$))")
OPTION = re.compile(r"\b(?:choice|option)[ _]?\(?([A-J])\)?(?![a-z])", re.IGNORECASE)
CLAUSE_END = re.compile(r"[.!?;](?=\s|$)|,?\s(?:because|since|as|so|which|where|I hope)\s", re.IGNORECASE)
SIDES = re.compile(r"(?<![<>!\\])=(?!=)|\\approx|\\equiv|≈")
NUMBER = re.compile(r"-?(?:\d[\d,]*)?\.?\d+(?:\s{0,1}/\s{0,1}\d+)?")
TIDY = " \t\r\n*_`"


@dataclass(frozen=True)
class ExtractedAnswer:
    """An answer, and whether the text marks it as the answer."""

    text: str
    marked: bool


def final_answer(text: str) -> str | None:
    r"""A solution's answer: the last \boxed{} or <answer>, else the text after "####" or "answer is", else the end of
    the last formula, else the last number; None if there is none."""
    answer = find_answer(text)
    return answer.text if answer else None


def find_answer(text: str) -> ExtractedAnswer | None:
    text = text[-READ:]
    stated = last_boxed(text) or _tagged(text)
    if stated:
        return ExtractedAnswer(stated, marked=True)
    marked = MARKED.findall(text)
    phrase = _in_phrase(marked[-1]) if marked else None
    if phrase:
        return ExtractedAnswer(phrase, marked=True)
    if options := OPTION.findall(text[-LONGEST_PHRASE:]):
        return ExtractedAnswer(options[-1].upper(), marked=True)
    closing = _in_closing(text)
    return ExtractedAnswer(closing, marked=False) if closing else None


def last_boxed(text: str) -> str | None:
    r"""The content of the last closed, non-empty \boxed{...}."""
    opened: list[int | None] = []
    last = (-1, "")
    for brace in BRACES.finditer(text):
        if brace["box"] or brace["open"]:
            opened.append(brace.end() if brace["box"] else None)
        elif brace["close"] and opened:
            start = opened.pop()
            if start is not None and start > last[0]:
                last = (start, text[start : brace.start()].strip())
    if last[1]:
        return last[1]
    bare = BARE_BOX.findall(text)
    return bare[-1] if bare else None


def _tagged(text: str) -> str | None:
    lowered = text.lower()
    end = lowered.rfind("</answer>")
    start = lowered.rfind("<answer>", 0, end) if end >= 0 else -1
    return text[start + len("<answer>") : end].strip() or None if start >= 0 else None


def _in_phrase(phrase: str) -> str | None:
    """The answer at the beginning of a text that follows "the answer is"."""
    phrase = phrase.strip(TIDY)
    if spans := SPANS.match(phrase):
        return ", ".join(_bare(span) for span in SPAN.findall(spans[0]))
    if option := OPTION.match(phrase):
        return option[1].upper()
    if choice := CHOICE.match(phrase):
        return choice[1] or choice[2]
    clause = CLAUSE_END.split(phrase, maxsplit=1)[0].strip(TIDY)
    if quantity(clause):
        return clause
    number = NUMBER.match(clause.lstrip("$€£ "))
    if number and re.match(r"\s{1,3}[A-Za-z]{2}", clause.lstrip("$€£ ")[number.end() :]):
        return number[0]
    return clause or None


def _in_closing(text: str) -> str | None:
    """The right-hand side of the last formula if no number follows it, else the last number."""
    numbers = list(NUMBER.finditer(text))
    spans = list(SPAN.finditer(text, max(0, len(text) - 5 * LONGEST_PHRASE)))
    if spans and (not numbers or spans[-1].end() > numbers[-1].start()):
        return SIDES.split(_bare(spans[-1][0]))[-1].strip().rstrip(" .,\n\\") or None
    return numbers[-1][0] if numbers else None


def _bare(span: str) -> str:
    return span[2:-2].strip() if span[:2] in ("$$", r"\(", r"\[") else span[1:-1].strip()
