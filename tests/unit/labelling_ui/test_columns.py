"""Columns of the tables."""

from labelling_ui.pages.columns import Opening

PROMPT = "Answer the question and search if you must. " * 9
COLUMN = Opening("problem", "Problem")


def shown(*texts: str) -> list[str]:
    rows = [{"problem": text} for text in texts]
    column = COLUMN.among(rows)
    return [column.html(row).partition(">")[2].removesuffix("</span>") for row in rows]


def test_texts_that_begin_alike_are_shown_from_the_sentence_in_which_they_differ() -> None:
    assert shown(f"{PROMPT}Which city is it?", f"{PROMPT}Which author is it?", "What is 2 + 2?") == [
        "… Which city is it?",
        "… Which author is it?",
        "What is 2 + 2?",
    ]


def test_a_sentence_that_is_alike_for_long_is_shown_from_the_word_in_which_it_differs() -> None:
    assert shown(f"{'so and ' * 40}left", f"{'so and ' * 40}lost") == ["… left", "… lost"]


def test_one_problem_of_several_solutions_is_shown_from_its_beginning() -> None:
    assert all(text.startswith("Answer the question") for text in shown(PROMPT, PROMPT))


def test_a_short_likeness_changes_nothing() -> None:
    problems = ["Finn and Ada share 64 shells.", "Finn and Ada share 65 shells."]
    assert shown(*problems) == problems


def test_a_text_may_be_the_beginning_of_another_or_missing() -> None:
    assert shown(PROMPT, f"{PROMPT}Why?")[1] == "… Why?"
    assert COLUMN.among([{"problem": None}]).html({"problem": None}) == "–"
