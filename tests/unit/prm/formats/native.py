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


_provenance = st.fixed_dictionaries(
    {},
    optional={
        "policy": TEXT.filter(bool),
        "temperature": st.floats(0, 2),
        "seed": st.integers(),
        "prompt": TEXT.filter(bool),
        "scaffold": TEXT.filter(bool),
        "visibility": st.sampled_from(["raw", "summary", "redacted"]),
        "run": TEXT.filter(bool),
        "settings": st.just({"top_p": 0.9}),
    },
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
_plain_position = _plain_step | st.lists(_plain_step, min_size=2, max_size=3)
_plain_solution = st.fixed_dictionaries({"steps": st.lists(_plain_position, min_size=1, max_size=5)}) | (
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
            "outcome_source": st.sampled_from(["given", "grader", "tests"]),
            "provenance": _provenance,
        },
    )
    return {**draw(line), **draw(_plain_solution), **draw(LEFTOVERS)}


@st.composite
def _math_shepherd(draw):
    said = TEXT.filter(lambda text: "ки" not in text and "Step 1" not in text and text == text.strip() and text)
    steps = [f"Step {number}: {draw(said)}" for number in range(1, draw(st.integers(2, 5)))]
    marks = [draw(st.sampled_from("+-")) for _ in steps]
    problem, joint = draw(said), draw(st.sampled_from([" ", "\n"]))
    return {
        "input": problem + joint + "\n".join(f"{step} ки" for step in steps),
        "label": problem + joint + "\n".join(f"{step} {mark}" for step, mark in zip(steps, marks, strict=True)),
        "task": draw(st.sampled_from(["GSM8K", "MATH"])),
    }


@st.composite
def _prmbench(draw):
    steps = draw(st.lists(TEXT, min_size=1, max_size=6))
    return {
        "original_question": draw(TEXT),
        "modified_question": draw(TEXT.filter(bool)),
        "original_process": draw(st.lists(TEXT, max_size=3)),
        "modified_process": steps,
        "modified_steps": [1],
        "error_steps": draw(st.lists(st.integers(1, len(steps)), max_size=3)),
        "classification": draw(st.sampled_from(["redundancy", "counterfactual", "confidence"])),
        "idx": draw(TEXT.filter(bool)),
    }


@st.composite
def _rlhflow(draw):
    texts = [draw(TEXT) for _ in range(draw(st.integers(1, 5)))]
    texts[0] = f"{draw(TEXT)}{draw(st.sampled_from([' ', chr(10)]))}Step 1: {texts[0]}"
    marks = [draw(st.sampled_from("+-")) for _ in texts]
    turns = [
        turn
        for text, mark in zip(texts, marks, strict=True)
        for turn in ({"role": "user", "content": text}, {"role": "assistant", "content": mark})
    ]
    return {"conversations": turns}


@st.composite
def _mr_ben(draw):
    steps = draw(st.lists(TEXT, min_size=1, max_size=6))
    error = draw(st.integers(0, len(steps)))
    return {
        "Question_UUID": draw(TEXT.filter(bool)),
        "Subject": "college_math",
        "Question": draw(TEXT),
        "Options": draw(TEXT),
        "Ground_Truth_Answer": draw(TEXT),
        "Sampled_Model": draw(TEXT),
        "Model_Solution_Steps": steps,
        "Model_Solution_Correctness": draw(st.sampled_from(["correct", "incorrect"])),
        "Model_Solution_First_Error_Step": str(error) if error else "N/A",
    }


@st.composite
def _big_bench_mistake(draw):
    steps = draw(st.lists(TEXT, min_size=1, max_size=6))
    return {
        "input": draw(TEXT),
        "target": draw(TEXT),
        "answer": draw(st.none() | TEXT),
        "steps": steps,
        "mistake_index": draw(st.none() | st.integers(0, len(steps) - 1)),
        **draw(LEFTOVERS),
    }


_best_of_n = st.fixed_dictionaries(
    {
        "problem_id": TEXT,
        "candidate_index": st.integers(0, 31),
        "problem": TEXT,
        "reference_answer": st.none() | TEXT,
        "steps": st.lists(TEXT, max_size=5),
        "final_answer": st.none() | TEXT,
        "is_correct": st.none() | st.booleans(),
        "prm_step_scores": st.dictionaries(TEXT, st.lists(st.floats(0, 1)), max_size=2),
    }
)


@st.composite
def _messages(draw):
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}}
    turn = st.sampled_from(
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": "search", "content": "found"},
            {"role": "assistant", "content": [{"type": "text", "text": "thinking"}]},
            {"role": "user", "content": "go on"},
        ]
    )
    turns = [{"role": "system", "content": "s"}, {"role": "user", "content": draw(TEXT)}, *draw(st.lists(turn))]
    rated = [str(k) for k, message in enumerate(turns) if message["role"] == "assistant"]
    labels = {"step_labels": {key: draw(st.sampled_from([1, 0, -1, None])) for key in rated}}
    return {"messages": turns, **(labels if draw(st.booleans()) else {}), **draw(LEFTOVERS)}


@st.composite
def _tau_bench(draw):
    run = draw(_messages())
    rest = {"task_id": draw(st.integers(0, 9)), "trial": draw(st.integers(0, 3)), "info": {"task": draw(LEFTOVERS)}}
    return rest | {"reward": draw(st.sampled_from([0.0, 1.0, 0.5])), "traj": run["messages"]}


@st.composite
def _labels(draw):
    ratings = {"ratings": draw(st.lists(st.sampled_from([1, 0, -1, None]), min_size=1, max_size=3))}
    label = ratings if draw(st.booleans()) else {"first_error": draw(st.integers(-1, 3))}
    return {"solution": draw(st.sampled_from(["a-1", "7"])), "annotator": draw(st.sampled_from(["x", "y"])), **label}


@st.composite
def _who_and_when(draw):
    history = draw(st.lists(st.fixed_dictionaries({"content": TEXT, "role": TEXT, "name": TEXT}), min_size=1))
    return {
        "question": draw(TEXT),
        "history": history,
        "mistake_step": str(draw(st.integers(0, len(history) - 1))),
        "mistake_agent": draw(TEXT),
        "is_correct": False,
        "ground_truth": draw(TEXT),
    }


@st.composite
def _atif(draw):
    step = {
        "source": "agent",
        "message": draw(TEXT),
        "reasoning_content": draw(TEXT),
        "tool_calls": [{"tool_call_id": "1", "function_name": "Read", "arguments": {"path": draw(TEXT)}}],
        "observation": {"results": [{"source_call_id": "1", "content": draw(TEXT)}]},
    }
    return {
        "schema_version": "ATIF-v1.2",
        "session_id": draw(TEXT),
        "agent": {"name": "coder", "version": "1", "model_name": draw(st.none() | TEXT)},
        "steps": [{"source": "user", "message": draw(TEXT)}, *draw(st.lists(st.just(step), max_size=3))],
    }


PROCESSBENCH, TRL, PLAIN = _processbench(), _trl(), _plain()
MATH_SHEPHERD, PRMBENCH, RLHFLOW, MR_BEN = _math_shepherd(), _prmbench(), _rlhflow(), _mr_ben()
BIG_BENCH_MISTAKE, BEST_OF_N, MESSAGES = _big_bench_mistake(), _best_of_n, _messages()
WHO_AND_WHEN, ATIF, TAU_BENCH, LABELS = _who_and_when(), _atif(), _tau_bench(), _labels()
_record_label = st.fixed_dictionaries(
    {
        "source_kind": st.sampled_from(["human", "model_judge", "monte_carlo", "consensus"]),
        "finish_reason": st.just("give_up"),
        "path": st.just([{"position": 0, "chosen": 0, "ratings": [{"alternative": 0, "state": "rated", "rating": 1}]}]),
        "revision": st.integers(1, 3),
    },
    optional={
        "source_name": TEXT.filter(bool),
        "annotator": st.uuids().map(str),
        "lane": st.sampled_from(["control", "gold"]),
        "generation": st.integers(0, 9),
        "inclusion": st.just({"probability": 0.5, "weight": 2.0}),
        "guidelines": st.integers(1, 9),
        "submitted_at": st.just("2026-11-21T05:00:00.000007Z"),
        "adjudicates": st.just(True),
        "reference_disputed": st.just(True),
        "hint": st.just({"shown": True, "model": 3, "seen": [0]}),
        "comment": TEXT.filter(bool),
        "reason": TEXT.filter(bool),
    },
)
_record_step = st.fixed_dictionaries({"text": TEXT}, optional={"added": st.just(True), "kind": st.just("plan")})
RECORDS = st.fixed_dictionaries(
    {"problem": TEXT, "positions": st.lists(st.lists(_record_step, min_size=1, max_size=2), min_size=1, max_size=3)},
    optional={
        "source_group": TEXT.filter(bool),
        "split": st.sampled_from(["pool", "holdout"]),
        "external_id": TEXT.filter(bool),
        "final_answer_correct": st.booleans(),
        "provenance": _provenance.filter(bool),
        "annotations": st.lists(_record_label, min_size=1, max_size=2),
        "consensus": st.just([{"position": 0, "alternative": 0, "good": 1.0, "neutral": 0.0, "bad": 0.0, "votes": 1}]),
    },
)
TABLE = st.fixed_dictionaries(
    {"question": TEXT, "reasoning_steps": st.lists(TEXT, min_size=1), "first_error": st.just(0)}
)

_turn = st.fixed_dictionaries(
    {
        "action": TEXT,
        "observation": TEXT,
        "response": TEXT,
        "thought": TEXT,
        "state": st.dictionaries(TEXT, TEXT, max_size=1),
    },
    optional={"execution_time": st.floats(0, 9), "query": st.just([]), "extra_info": st.just({})},
)
SWE_AGENT = st.fixed_dictionaries(
    {
        "trajectory": st.lists(_turn, min_size=1, max_size=3),
        "history": st.lists(
            st.fixed_dictionaries({"role": st.just("user"), "content": st.just("Fix it.")}), min_size=1, max_size=2
        ),
        "info": st.fixed_dictionaries(
            {"exit_status": st.sampled_from(["submitted", "exit_cost", None]), "submission": MAYBE_TEXT},
            optional={"model_stats": st.dictionaries(st.just("api_calls"), st.integers(0, 9))},
        ),
    },
    optional={"replay_config": TEXT, "environment": TEXT},
)
