"""Tables of any columns come in by their mapping, say where they cannot, and what is written comes back."""

import io
import json

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from prm.errors import FormatError
from prm.exporters import EXPORTERS
from prm.formats import table
from prm.formats.detection import detect
from prm.formats.labels import index_label, rated_label
from prm.formats.mapping import Column, LabelMapping, Mapping, SourceMapping, StepsMapping, parse_mapping
from prm.formats.path import taken_path
from prm.formats.record import Completion, Inclusion, Provenance, Record, Rejection
from tests.unit.prm.formats import native

STEPS = StepsMapping(["steps"])
WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12)
RISKY = st.sampled_from(["=1+1", "'=x", "''+", "-3", "@a", "\tb", "\rc", 'a "quoted", b', "a\r\nb", "ки", "'", "null"])
MADE_BY = st.builds(
    Provenance,
    policy=WORD,
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(-(2**130), 2**130),
    prompt=st.just("") | RISKY,
    visibility=st.sampled_from([None, "raw", "summary"]),
    settings=native.LEFTOVERS,
)


@st.composite
def records(draw):
    steps = draw(st.lists(WORD | RISKY, min_size=1, max_size=4))
    kinds = st.sampled_from(["reasoning", "tool_call", "observation"])
    label = st.builds(
        lambda ratings, kind, name: rated_label(ratings, kind=kind, name=name),
        st.lists(st.sampled_from([1, 0, -1]), min_size=len(steps), max_size=len(steps)),
        st.sampled_from(["human", "consensus", "model_judge", "heuristic"]),
        WORD | RISKY,
    )
    first = st.builds(
        lambda error: index_label(error, len(steps), field="", kind="monte_carlo", name="p, 8 rollouts"),
        st.integers(-1, len(steps) - 1),
    )
    labels = draw(st.lists(label | first, max_size=2))
    for told in labels:
        if told.source_kind == "monte_carlo":
            told.source_detail = {"policy": "p", "rollouts": 8}
        told.annotator = draw(st.none() | WORD | RISKY)
        told.revision = draw(st.none() | st.integers(1, 9))
        told.lane = draw(st.sampled_from(["", "control"]))
        told.generation = draw(st.none() | st.integers(0, 9))
        told.inclusion = draw(st.none() | st.floats(1e-9, 1).map(Inclusion.of))
        told.guidelines = draw(st.none() | st.integers(1, 9))
    maybe = st.none() | WORD | RISKY
    return Record(
        problem=draw(WORD | RISKY),
        positions=[[Completion(step, kind=draw(kinds))] for step in steps],
        source_group=draw(st.just("") | WORD),
        domain=draw(st.just("") | RISKY),
        reference_answer=draw(maybe),
        reference_solution=draw(maybe),
        external_id=draw(st.just("") | WORD),
        generator=draw(st.just("") | WORD),
        final_answer=draw(maybe),
        final_answer_correct=draw(st.none() | st.booleans()),
        outcome_source=draw(st.sampled_from([None, "given", "tests"])),
        provenance=draw(st.none() | MADE_BY),
        extra=draw(native.LEFTOVERS),
        annotations=labels,
    )


def meaning(record):
    labels = [
        (
            (
                a.source_kind,
                a.annotator,
                a.revision,
                a.source_name,
                a.source_detail,
                a.lane,
                a.generation,
                a.inclusion,
                a.guidelines,
            ),
            (a.annotator, a.revision, a.first_error, taken_path(a.finish_reason, a.path)),
        )
        for a in record.annotations
    ]
    return record.problem, record.positions, record.domain, record.extra, labels


@pytest.mark.slow
@pytest.mark.parametrize("write", [table.CSV.write, EXPORTERS.get("parquet").write])
@given(st.lists(records(), min_size=1, max_size=3))
def test_what_is_written_comes_back(write, given):
    content = b"".join(write(given))
    assert detect(io.BytesIO(content), "f") == "table"
    back = [record for _, record in table.read(io.BytesIO(content))]
    expected = [
        Record(**{**{f: getattr(r, f) for f in Record.__struct_fields__}, "annotations": labels})
        for r in given
        for labels in ([[label] for label in r.annotations] or [[]])
    ]
    assert [meaning(record) for record in back] == [meaning(record) for record in expected]
    for one, other in zip(back, expected, strict=True):
        one.annotations = other.annotations = []
        assert one == other


def test_a_label_that_goes_on_behind_an_error_and_stops_early_comes_back():
    label = rated_label([-1, 1, None], kind="human", name="h")
    record = Record(problem="x", positions=[[Completion(text)] for text in "abc"], annotations=[label])
    [back] = read(b"".join(table.CSV.write([record])))
    assert meaning(back) == meaning(record)


@pytest.mark.parametrize("write", [table.CSV.write, EXPORTERS.get("parquet").write])
def test_odd_details_of_a_source_do_not_stop_an_export(write):
    label = rated_label([1], kind="monte_carlo", name="m")
    label.source_detail = {"policy": 3, "rollouts": "many"}
    record = Record(problem="x", positions=[[Completion("a")]], annotations=[label])
    [back] = read(b"".join(write([record])))
    assert (back.annotations[0].source_name, back.annotations[0].source_detail) == ("m", {})


@pytest.mark.parametrize("write", [table.CSV.write, EXPORTERS.get("parquet").write])
@pytest.mark.parametrize(
    ("finish", "ratings", "first_error"),
    [
        ("give_up", [], None),
        ("bad_problem", [], None),
        ("found_error", [], None),  # MR-Ben's labels that do not name the step
        ("bad_problem", [1, None], None),
        ("found_error", [1, None], None),
        ("give_up", [1, 1], None),
        ("found_error", [1, -1], 1),
    ],
)
def test_how_labelling_ended_comes_back_with_labels_that_rate_few_steps_or_none(write, finish, ratings, first_error):
    label = rated_label(ratings, kind="human", name="ann")
    label.finish_reason, label.first_error = finish, first_error
    record = Record("p", [[Completion("a")], [Completion("b")]], annotations=[label])
    [back] = read(b"".join(write([record])))
    [again] = back.annotations
    assert (again.finish_reason, again.first_error, again.source_name) == (finish, first_error, "ann")
    assert [rating.rating for place in again.path for rating in place.ratings] == [r for r in ratings if r is not None]


def test_an_end_that_is_not_known_is_refused_at_its_column():
    mapping = Mapping("p", StepsMapping(["s"]), [LabelMapping(["r"], form="ratings", drawn={"finish_reason": "end"})])
    [refused] = read(b'{"p": "p", "s": ["a"], "r": [1], "end": "bored"}', mapping)
    assert (refused.field, "bored" in refused.reason) == ("end", True)


def test_a_header_that_is_no_csv_row_stops_the_import_and_is_not_replaced_by_the_first_row():
    with pytest.raises(OSError, match="not a valid CSV row"):
        read(b'problem,"steps"x\np,a\nq,b\n')


def read(content, mapping=None, **options):
    return [item for _, item in table.read(io.BytesIO(content), mapping=mapping, **options)]


def test_no_cell_of_a_csv_file_is_a_formula():
    record = Record("=cmd()", [[Completion("@step")]], generator="-1+1", external_id="+x", extra={"=a": 1})
    written = b"".join(table.CSV.write([record])).decode()
    assert written.splitlines()[1].startswith("'=cmd(),")
    assert "'-1+1" in written
    assert "'+x" in written


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_as_spreadsheets_write_it(delimiter):
    rows = [["question", "step 1", "step 2"], ['"a ""b""\r\nc"', f'"x{delimiter} y"', "z"], ["p", "q", ""]]
    content = b"\xef\xbb\xbf" + "\r\n".join(delimiter.join(row) for row in rows).encode()
    first, second = read(content)
    assert (first.problem, [at[0].text for at in first.positions]) == ('a "b"\r\nc', [f"x{delimiter} y", "z"])
    assert [at[0].text for at in second.positions] == ["q"]


@pytest.mark.parametrize(
    ("row", "line", "field", "reason"),
    [
        (b"a,b,c,d", 3, "", "Expected 3 columns as in the header, got 4 cells"),
        (b"a,b", 3, "", "2 cells"),
        (b"a,\xff,1", 3, "solution", "not UTF-8"),
        (b"a\x00,b,1", 3, "problem", "NUL"),
        (b"a,b,x", 3, "first_error", "Expected a whole number, got 'x'"),
        (b'a,"b"x,1', 3, "", "not a valid CSV row"),
    ],
)
def test_a_bad_row_is_named_by_line_and_column_and_the_others_are_in(row, line, field, reason):
    content = b"problem,solution,first_error\np,s,\n" + row + b"\nq,s,\n"
    label = LabelMapping(["first_error"], none=[])
    mapping = Mapping("problem", steps=StepsMapping(["solution"], form="text"), labels=[label])
    items = list(table.read(io.BytesIO(content), mapping=mapping))
    [bad] = [item for _, item in items if isinstance(item, Rejection)]
    assert len(items) == 3
    assert (bad.line, bad.field) == (line, field)
    assert reason in bad.reason


def test_a_quote_that_is_never_closed_is_told_with_the_line_where_it_opens():
    items = list(table.read(io.BytesIO(b'problem,solution\np,s\nq,"never closed\nr,s\n')))
    assert [line for line, item in items if isinstance(item, Rejection)] == [3]
    assert isinstance(items[0][1], Record)


@pytest.mark.parametrize(
    ("cell", "base", "none", "error"),
    [
        ("0", 0, ["-1"], 0),
        ("1", 1, ["N/A"], 0),
        ("2.0", 1, [], 1),
        ("-1", 0, ["-1"], -1),
        ("n/a", 1, ["N/A"], -1),
        ("", 0, [""], -1),
        (None, 0, [""], -1),
        (None, 0, ["-1"], "no label"),
        ("", 0, ["-1"], "no label"),
        ("2", 0, ["-1"], "rejected"),
        ("0", 1, ["-1"], "rejected"),
        ("0", 1, ["0"], -1),
        ("-1", 1, ["N/A"], "rejected"),
        ("-2", 0, ["-1"], "rejected"),
        (True, 0, ["-1"], "rejected"),
    ],
)
def test_an_index_means_what_the_mapping_says(cell, base, none, error):
    label = LabelMapping(["e"], base=base, none=none, source=SourceMapping("human", name="ann"))
    mapping = Mapping("p", steps=STEPS, labels=[label])
    [item] = read(json.dumps({"p": "x", "steps": ["a", "b"], "e": cell}).encode(), mapping)
    if isinstance(item, Rejection):
        assert error == "rejected"
        assert item.field == "e"
    else:
        assert [a.first_error for a in item.annotations] == ([] if error == "no label" else [error])


def test_an_index_of_a_solution_without_steps_is_told_so():
    """The import may split it otherwise than who counted the steps."""
    mapping = Mapping("p", steps=StepsMapping(["s"], form="text"), labels=[LabelMapping(["e"])])
    [rejection] = read(json.dumps({"p": "x", "s": "a\n\nb", "e": 1}).encode(), mapping)
    assert (rejection.field, "one text" in rejection.reason) == ("e", True)


@pytest.mark.parametrize(
    ("cell", "scale", "expected"),
    [
        ([1, 0, -1], "sign", [1, 0, -1]),
        ("[1, 0, -1]", "sign", [1, 0, -1]),
        (["+", "-"], "sign", [1, -1]),
        ([1, 1, 0], "binary", [1, 1, -1]),
        (["true", False, None], "binary", [1, -1, None]),
        ([0.5, 0.125, 0], "share", [1, 1, -1]),
        ("[True, None, False]", "binary", [1, None, -1]),
        ([1, -1], "sign", [1, -1]),
    ],
)
def test_ratings_by_their_scale(cell, scale, expected):
    label = LabelMapping(["r"], form="ratings", scale=scale)
    [record] = read(
        json.dumps({"p": "x", "steps": ["a", "b", "c"], "r": cell}).encode(), Mapping("p", steps=STEPS, labels=[label])
    )
    told = [place.ratings[0].rating if place.ratings else None for place in record.annotations[0].path]
    assert told == expected


def test_ratings_with_a_gap_do_not_say_that_there_is_no_error():
    mapping = Mapping("p", steps=STEPS, labels=[LabelMapping(["r"], form="ratings")])
    [record] = read(json.dumps({"p": "x", "steps": ["a", "b"], "r": [1, None]}).encode(), mapping)
    assert (record.annotations[0].first_error, record.annotations[0].finish_reason) == (None, "give_up")
    [short] = read(json.dumps({"p": "x", "steps": ["a", "b"], "r": [1]}).encode(), mapping)
    assert short.reason == "Expected a label for each of 2 steps, got 1 label"


def test_monte_carlo_labels_of_other_rollouts_are_another_source():
    source = SourceMapping("monte_carlo", policy="m", rollouts=Column("n"))
    mapping = Mapping("p", steps=STEPS, labels=[LabelMapping(["e"], source=source)])
    lines = [{"p": "x", "steps": ["a"], "e": 0, "n": n} for n in (8, 64)]
    found = [record.annotations[0] for record in read("\n".join(map(json.dumps, lines)).encode(), mapping)]
    assert [(a.source_name, a.source_detail["rollouts"]) for a in found] == [
        ("m, 8 rollouts", 8),
        ("m, 64 rollouts", 64),
    ]


@pytest.mark.parametrize(("name", "labelled"), [("first_error", True), ("judge_error_index", True), ("rating", False)])
def test_a_file_that_begins_with_right_solutions_has_labels_by_the_name_of_its_column(name, labelled):
    rows = [{"problem": f"p{n}", "steps": ["a", "b"], name: -1} for n in range(3)]
    content = "\n".join(map(json.dumps, rows)).encode()
    labels = table.checked(None, table.sample(io.BytesIO(content))).labels
    assert [(label.columns, label.form, label.none) for label in labels] == [([name], "first_error", ["-1"])] * labelled
    assert detect(io.BytesIO(content), "rows.jsonl") == ("table" if labelled else "plain")


@pytest.mark.parametrize(
    ("name", "is_index"),
    [("final_label", False), ("rating", False), ("label", True), ("mistake", True), ("wrong_step", True)],
)
def test_only_a_column_whose_name_means_an_index_is_proposed_as_the_first_error(name, is_index):
    row = {"question": "p", "steps": ["a", "b"], name: 1}
    labels = table.checked(None, table.sample(io.BytesIO(json.dumps(row).encode()))).labels
    assert [label.columns for label in labels] == [[name]] * is_index


def test_a_wrong_value_in_a_column_of_first_errors_is_rejected_and_the_other_labels_are_read():
    cells = [1, "x", -1]
    rows = [{"problem": f"p{n}", "steps": ["a", "b"], "first_error": cell} for n, cell in enumerate(cells)]
    content = "\n".join(map(json.dumps, rows)).encode()
    assert detect(io.BytesIO(content), "rows.jsonl") == "table"
    right, rejected, none = read(content, table.checked(None, table.sample(io.BytesIO(content))))
    assert [right.annotations[0].first_error, none.annotations[0].first_error] == [1, -1]
    assert (rejected.line, rejected.field, rejected.reason) == (2, "first_error", "Expected a whole number, got 'x'")


def test_a_table_with_labels_of_two_sources_is_proposed_with_both():
    row = {"question": "p", "reasoning_steps": ["a", "b"], "mc_labels": [1, 0], "judge_first_error": 1, "answer": "4"}
    mapping = table.checked(None, table.sample(io.BytesIO(json.dumps(row).encode())))
    assert (mapping.problem, mapping.steps.columns, mapping.reference_answer) == (
        "question",
        ["reasoning_steps"],
        "answer",
    )
    assert [(m.columns, m.form, m.scale, m.source.kind) for m in mapping.labels] == [
        (["mc_labels"], "ratings", "binary", "monte_carlo"),
        (["judge_first_error"], "first_error", "sign", "model_judge"),
    ]


@pytest.mark.parametrize(
    ("cells", "base", "none"),
    [
        ([0, 1, -1], 0, ["-1"]),
        ([1, 2, "N/A"], 1, ["n/a"]),
        ([2, 1, 0], 1, ["0"]),
        ([0, None, 1], 0, [""]),
        (["1", "2", ""], 1, [""]),
    ],
)
def test_base_and_word_for_none_are_told_by_the_values(cells, base, none):
    rows = [{"problem": "p", "steps": ["a", "b"], "error_step": cell} for cell in cells]
    mapping = table.checked(None, table.sample(io.BytesIO(json.dumps(rows).encode())))
    assert [(label.base, label.none, label.source.kind) for label in mapping.labels] == [(base, none, "heuristic")]


def test_a_list_as_pandas_writes_it_to_csv():
    content = b'problem,steps\np,"[\'it\\\'s\', ""b""]"\n'
    [record] = read(content)
    assert [at[0].text for at in record.positions] == ["it's", "b"]
    [refused] = read(b"problem,steps\np,\"['a' 'b']\"\n", Mapping("problem", steps=STEPS))
    assert refused.field == "steps", "two texts without a comma are not one"


def test_keys_of_objects_are_columns():
    row = {"question": {"text": "p", "id": 7}, "run": {"steps": ["a"]}}
    mapping = Mapping("question.text", steps=StepsMapping(["run.steps"]), external_id="question.id")
    [record] = read(json.dumps(row).encode(), mapping)
    assert (record.problem, record.external_id, len(record.positions)) == ("p", "7", 1)


def test_a_mapping_must_name_columns_that_are_there():
    begun = table.sample(io.BytesIO(b"a,b\n1,2\n"))
    with pytest.raises(FormatError, match=r"column that holds the problem.*a, b"):
        table.checked(None, begun)
    with pytest.raises(FormatError, match="no column 'c'"):
        table.checked(Mapping("c", steps=StepsMapping(["b"])), begun)
    with pytest.raises(FormatError, match=r"labels.*base"):
        parse_mapping('{"problem": "a", "steps": {"columns": ["b"]}, "labels": [{"columns": ["c"], "base": 2}]}')


def of_rows(rows, *, group=2):
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), out, row_group_size=group)
    return out.getvalue()


@pytest.mark.parametrize("skip", range(6))
def test_parquet_goes_on_behind_what_is_done(skip):
    content = of_rows([{"problem": f"p{n}", "steps": [f"s{n}"], "meta": {"n": n}} for n in range(5)])
    found = list(table.read(io.BytesIO(content), skip=skip))
    assert [(line, record.problem, record.extra) for line, record in found] == [
        (n + 1, f"p{n}", {"meta": {"n": n}}) for n in range(skip, 5)
    ]


def test_another_format_may_come_as_parquet():
    content = of_rows([{"prompt": "p", "completions": ["a", "b"], "labels": [True, False]}])
    assert detect(io.BytesIO(content), "f") == "trl"


def test_a_broken_parquet_file_is_an_error_of_the_file():
    content = of_rows([{"problem": "p", "steps": ["s"]}])
    with pytest.raises(OSError, match="Parquet"):
        read(content[: len(content) // 2], Mapping("problem", steps=STEPS))
