"""Generated lines of each format, as another program could have written them."""

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
MAYBE_TEXT = st.none() | TEXT
LEFTOVERS = st.dictionaries(st.sampled_from(["seed", "meta"]), st.integers(-9, 9) | TEXT | st.lists(st.booleans()))

_rating = st.sampled_from([1, 0, -1, None])
_flagged = st.sampled_from([None, False, True])
_shown = st.fixed_dictionaries(
    {"text": st.sampled_from(["a", "b", "c"]) | TEXT, "rating": _rating, "flagged": _flagged},
    optional={"source": TEXT},
)
_written = st.fixed_dictionaries(
    {"text": TEXT, "rating": st.none(), "source": st.just("human"), "flagged": st.just(False)},
    optional={"corrected_rating": _rating},
)


@st.composite
def prm800k_steps(draw):
    completions = draw(st.none() | st.lists(_shown, max_size=4))
    choices = st.none() | st.integers(0, len(completions) - 1) if completions else st.none()
    return {
        "completions": completions,
        "human_completion": draw(st.none() | _written),
        "chosen_completion": draw(choices),
    }


_question = st.fixed_dictionaries(
    {"problem": TEXT, "ground_truth_answer": MAYBE_TEXT},
    optional={
        "ground_truth_solution": MAYBE_TEXT,
        "pre_generated_steps": st.lists(st.sampled_from(["a", "b"]) | TEXT, max_size=4),
        "pre_generated_answer": MAYBE_TEXT,
        "pre_generated_verifier_score": st.none() | st.floats(0, 1),
    },
)
_label = st.fixed_dictionaries(
    {
        "steps": st.lists(prm800k_steps(), max_size=5),
        "total_time": st.integers(0, 10**9) | st.none() | st.floats(0, 10),
        "finish_reason": st.sampled_from(["solution", "found_error", "give_up", "bad_problem"]),
    }
)
PRM800K = st.fixed_dictionaries(
    {
        "labeler": st.uuids().map(str),
        "timestamp": st.datetimes().map(lambda moment: moment.isoformat()) | TEXT,
        "generation": st.none() | st.integers(-1, 10),
        "is_quality_control_question": st.booleans(),
        "is_initial_screening_question": st.booleans(),
        "question": _question,
        "label": _label,
    },
    optional={"batch": TEXT},
)


@st.composite
def _processbench(draw):
    steps = draw(st.lists(TEXT, min_size=1, max_size=6))
    return {
        "id": draw(TEXT.filter(bool)),
        "generator": draw(TEXT.filter(bool)),
        "problem": draw(TEXT.filter(bool)),
        "steps": steps,
        "final_answer_correct": draw(st.booleans()),
        "label": draw(st.integers(-1, len(steps) - 1)),
        **draw(LEFTOVERS),
    }


@st.composite
def _trl(draw):
    labels = draw(st.lists(st.booleans(), min_size=1, max_size=6))
    return {"prompt": draw(TEXT), "completions": [draw(TEXT) for _ in labels], "labels": labels}


_plain_step = TEXT | st.fixed_dictionaries(
    {"text": TEXT, "kind": st.sampled_from(["plan", "tool_call", "observation", "edit", "answer"])}
)
_plain_solution = st.fixed_dictionaries({"steps": st.lists(_plain_step, min_size=1, max_size=5)}) | (
    st.fixed_dictionaries({"solution": TEXT})
)


@st.composite
def _plain(draw):
    line = st.fixed_dictionaries(
        {"problem": TEXT},
        optional={
            "answer": TEXT,
            "reference_solution": TEXT,
            "final_answer": TEXT,
            "final_answer_correct": st.booleans(),
            "id": TEXT.filter(bool),
            "domain": TEXT.filter(bool),
            "source_group": TEXT.filter(bool),
            "generator": TEXT.filter(bool),
        },
    )
    return {**draw(line), **draw(_plain_solution), **draw(LEFTOVERS)}


PROCESSBENCH, TRL, PLAIN = _processbench(), _trl(), _plain()
