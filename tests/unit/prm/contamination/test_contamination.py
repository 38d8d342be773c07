"""Overlap with a benchmark and near-duplicates: counted by hand, on generated texts and on real files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.__main__ import main
from prm.contamination import BenchmarkText, Item, NearDuplicates, check_contamination, item_of_record, item_of_trace
from prm.contamination.ngrams import NgramIndex, ngram_hashes, word_hashes, words_of
from prm.errors import DataError
from prm.formats.record import Record, sampled
from prm.formats.trace_files import read_traces
from prm.traces import Trace
from tests.real_data import real_data

LONG = " ".join(f"word{n}" for n in range(40))


def benchmark(*texts):
    return BenchmarkText(
        "b", "0" * 64, [Trace(f"b{n}", problem, [solution]) for n, (problem, solution) in enumerate(texts)]
    )


def check(items, against=None):
    return check_contamination([Item(f"i{n}", *item) for n, item in enumerate(items)], against)


def test_a_backbone_needs_a_benchmark(tmp_path, capsys):
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"problem": "p", "steps": ["a"]}))
    assert main(["contamination", "--data", str(data), "--backbone", "tiny"]) == 2
    assert "--against" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Add 17 + 26, then 2·43!", ["add", "17", "26", "then", "2", "43"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("求解方程 x²", ["求", "解", "方", "程", "x2"]),
        ("x_1 and \\frac{a}{b}", ["x", "1", "and", "frac", "a", "b"]),
        ("?!", []),
    ],
)
def test_words_are_without_case_and_punctuation(text, words):
    assert words_of(text) == words


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 13))
def test_runs_are_equal_if_and_only_if_their_words_are(words, n):
    runs = [tuple(words[place : place + n]) for place in range(max(1, len(words) - n + 1))] if words else []
    hashes = ngram_hashes(word_hashes(" ".join(words)), n).tolist()
    assert len(hashes) == len(runs)
    assert len(set(hashes)) == len(set(runs))


@given(st.lists(st.text("ab ", min_size=1, max_size=30), max_size=5), st.text("ab ", max_size=30))
def test_an_index_finds_what_a_search_finds(texts, wanted):
    def runs(text):
        words = words_of(text)
        return [tuple(words[place : place + 3]) for place in range(max(1, len(words) - 2))] if words else []

    known = {run for text in texts for run in runs(text)}
    share, owner = NgramIndex([word_hashes(text) for text in texts], 3).overlap(word_hashes(wanted))
    assert share == pytest.approx(sum(run in known for run in runs(wanted)) / max(1, len(runs(wanted))))
    assert (owner is None) == (share == 0)


def test_equal_run_and_most_are_counted_apart():
    known = benchmark((LONG, "a proof"))
    half = " ".join(LONG.split()[:20]) + " " + " ".join(f"other{n}" for n in range(60))
    report = check(
        [
            (LONG.upper() + "!", "x", "pool"),
            (half, "x", "holdout"),
            (LONG + " more", "x", "pool"),
            ("word1 word2 word3", "x", "pool"),
        ],
        known,
    )
    counts = report.problems
    assert (counts.texts, counts.equal, counts.any_run, counts.most_runs, counts.found) == (4, 1, 3, 2, 3)
    assert counts.splits == {"pool": 2, "holdout": 1}
    assert [(hit.id, hit.benchmark_id, hit.equal) for hit in report.hits] == [
        ("i0", "b0", True),
        ("i1", "b0", False),
        ("i2", "b0", False),
    ]
    assert (report.solutions.texts, report.solutions.found) == (4, 0)


def test_a_stock_phrase_in_a_solution_is_no_overlap():
    phrase = " ".join(f"stock{n}" for n in range(14))
    report = check([("p", phrase + " " + LONG, "pool")], benchmark(("q", phrase + " " + LONG[::-1])))
    assert (report.solutions.any_run, report.solutions.found) == (1, 0)
    assert check([("p", phrase, "pool")], benchmark(("q", phrase))).solutions.found == 1


def test_short_problems_are_compared_as_a_whole():
    known = benchmark(("What is 6 · 7?", "42"))
    report = check([("what is 6 7", "x", "pool"), ("What is 6 · 8?", "x", "pool")], known)
    assert (report.problems.equal, report.problems.found) == (1, 1)


def test_a_problem_counts_once_and_each_of_its_solutions():
    report = check([(LONG, "a", "pool"), (LONG, "b", "pool")], benchmark((LONG, "a")))
    assert (report.problems.texts, report.solutions.texts, report.solutions.equal) == (1, 2, 1)


def test_near_duplicates_are_grouped_and_named_across_splits():
    report = check(
        [
            (LONG, "", "pool"),
            (LONG.replace("word39", "changed"), "", "holdout"),
            (" ".join(f"other{n}" for n in range(40)), "", "pool"),
            ("?", "", "pool"),
        ]
    )
    assert (report.benchmark, report.problems.texts) == ("", 0)
    assert (report.duplicate_groups, report.duplicates, report.across_splits) == (1, 2, 1)
    assert (report.groups[0].ids, report.groups[0].splits) == (["i0", "i1"], ["holdout", "pool"])


@pytest.mark.parametrize(("changed", "near"), [(1, True), (30, False)])
def test_similarity_decides(changed, near):
    words = [f"word{n}" for n in range(200)]
    other = [f"new{n}" if n % (200 // changed) == 0 else word for n, word in enumerate(words)]
    found = NearDuplicates()
    found.add("a", " ".join(words), "pool")
    found.add("b", " ".join(other), "pool")
    assert bool(found.groups()) == near


def test_records_and_traces_give_the_same_text():
    record = Record("p", sampled(["one", "two"]), external_id="7", split="pool")
    assert (
        item_of_record(record) == item_of_trace(Trace("7", "p", ["one", "two"])) == Item("7", "p", "one\ntwo", "pool")
    )


@pytest.mark.slow
def test_real_processbench_overlaps_with_itself_and_not_with_other_problems():
    gsm8k, math = real_data("processbench/gsm8k.json"), real_data("processbench/math.json")
    known = BenchmarkText.read(gsm8k)
    own = check_contamination(map(item_of_trace, read_traces(gsm8k)), known)
    assert (own.problems.texts, own.problems.equal, own.solutions.equal) == (375, 375, 400)
    other = check_contamination(map(item_of_trace, read_traces(math)), known)
    assert (other.problems.texts, other.problems.found, other.solutions.found) == (955, 0, 0)


@pytest.mark.slow
def test_real_best_of_n_shares_the_problems_whose_text_is_equal():
    gsm8k, sampled_from_it = real_data("processbench/gsm8k.json"), real_data("best-of-n/gsm8k_best_of_32.jsonl.gz")
    report = check_contamination(map(item_of_trace, read_traces(sampled_from_it)), BenchmarkText.read(gsm8k))
    equal = {trace.problem for trace in read_traces(gsm8k)} & {trace.problem for trace in read_traces(sampled_from_it)}
    assert report.problems.found == len(equal) == 15
    assert report.solutions.found == 0, "others sampled them"


def test_the_command_says_and_writes_what_it_found(tmp_path, capsys):
    data, known = tmp_path / "data.jsonl", tmp_path / "known.jsonl"
    data.write_text(json.dumps({"id": "a", "problem": LONG, "steps": [{"text": "s"}]}))
    known.write_text(json.dumps({"id": "k", "problem": LONG + " end", "steps": [{"text": "t"}]}))
    out = tmp_path / "report.json"
    assert main(["contamination", "--data", str(data), "--against", str(known), "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "problems: 1 of 1 overlap; 0 equal, 1 with 70\xa0% of the runs of 8 words, 1 with a run of 13" in said
    assert "1 distinct problems: 0 near-duplicates in 0 groups" in said
    assert json.loads(out.read_text())["benchmark"] == "known.jsonl"


def test_a_benchmark_without_records_is_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError):
        BenchmarkText.read(tmp_path / "empty.jsonl")
