import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.splitting.automatic import LONGEST
from prm.splitting.splitting import RULES, split_by

PIECES = (
    st.sampled_from(["\n\n", "\n", " ", "  \n \r\n", "\t", "$", "\\$", "```", "\\begin{x}", "\\\\[2pt]"])
    | st.sampled_from(["Let x = 3. ", "costs $5 and $6. ", "e.g. This. ", '"Yes!" He said. ', "π. Ü"])
    | st.sampled_from(["Then $a.\nB$ holds. ", "$$\n\nx\n\n$$", "\\[ a\n\nb. C \\]", "```python\n\nx = 1\n\n```\n"])
    | st.sampled_from(["\\begin{align}\n\nx &= 1\\\\\n\n\\end{align}"])
    | st.sampled_from(["1. one\n", "2) two\n", "(3) three", "Step 1: go\n", "**Step 2** stop\n", "## Head\n"])
)


@given(st.lists(PIECES | st.text(max_size=5)).map("".join), st.sampled_from(sorted(RULES)))
def test_joined_again_the_steps_are_the_text(text, rule):
    steps = split_by(rule, text)
    assert "".join("".join(steps).split()) == "".join(text.split())
    assert all(step.strip() for step in steps)


@pytest.mark.parametrize(
    ("rule", "text", "steps"),
    [
        ("blank_lines", "a\nb\n\n c \n \t\nd", ["a\nb", "c", "d"]),
        ("blank_lines", "a\r\n\r\nb", ["a", "b"]),
        ("blank_lines", "", []),
        ("blank_lines", " \n\n ", []),
        ("blank_lines", "so\n\\[\nx\n\n= 1\n\\]\n\nthen", ["so\n\\[\nx\n\n= 1\n\\]", "then"]),
        ("blank_lines", "\\begin{align}\na\n\nb\n\\end{align}\n\nc", ["\\begin{align}\na\n\nb\n\\end{align}", "c"]),
        ("blank_lines", "```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```", "c"]),
        ("blank_lines", "```\na\n\nnever closed", ["```\na\n\nnever closed"]),
        ("blank_lines", "\\begin{align} never\n\nclosed", ["\\begin{align} never", "closed"]),
        ("blank_lines", "costs $5\n\nor $6", ["costs $5", "or $6"]),
        ("numbered", "Intro\n1. a\n  more\n2. b\n10) c", ["Intro", "1. a\n  more", "2. b", "10) c"]),
        ("numbered", "Step 1: a\n1. x\n2. y\n**Step 2**: b", ["Step 1: a\n1. x\n2. y", "**Step 2**: b"]),
        ("numbered", "# One\na\n## Two\nb", ["# One\na", "## Two\nb"]),
        ("numbered", "3.14 is\n2.71 is not\n\nthe end", ["3.14 is\n2.71 is not", "the end"]),
        ("numbered", "```\n1. a\n2. b\n```\n\nx", ["```\n1. a\n2. b\n```", "x"]),
        ("lines", "def f():\n    return 1\n\n\nf()", ["def f():", "    return 1", "f()"]),
        ("lines", "x\n\\[ a\nb \\]\ny", ["x", "\\[ a\nb \\]", "y"]),
        ("sentences", "One. Two! Three? four. Five", ["One.", "Two!", "Three? four.", "Five"]),
        ("sentences", "Let $x = 1. Y$. Then $y$. $z$ too.", ["Let $x = 1. Y$.", "Then $y$.", "$z$ too."]),
        ("sentences", "It is 3.14. See e.g. Fig. 2. Done.", ["It is 3.14.", "See e.g. Fig. 2.", "Done."]),
        ("sentences", '"Yes." He left.\n\nNew', ['"Yes."', "He left.", "New"]),
        ("sentences", "1. First. Then\n2. Second.", ["1. First.", "Then\n2. Second."]),
        ("sentences", "第一步。第二步！Fin… «Où?» Élan.", ["第一步。", "第二步！", "Fin…", "«Où?»", "Élan."]),
        (
            "blank_lines",
            "\\begin{a}\n\\begin{a}\n\n\\end{a}\n\n\\end{a}\n\nb",
            ["\\begin{a}\n\\begin{a}\n\n\\end{a}\n\n\\end{a}", "b"],
        ),
        ("blank_lines", "````\n```\n\na\n````\n\nb", ["````\n```\n\na\n````", "b"]),
        (
            "automatic",
            "# Sum\n\n**Step 1:** a\n1. x\n2. y\n\n**Step 2:** b",
            ["# Sum\n\n**Step 1:** a\n1. x\n2. y", "**Step 2:** b"],
        ),
        *(
            (rule, text, steps)
            for rule in ("automatic", "numbered")
            for text, steps in [
                ("Step 1: a is 2. Step 2: b is 3. Step 3: c", ["Step 1: a is 2.", "Step 2: b is 3.", "Step 3: c"]),
                ("First. **Step 1:** a **Step 2:** b", ["First.", "**Step 1:** a", "**Step 2:** b"]),
                ("Step 1: a Step 2: b\nStep 3: c", ["Step 1: a", "Step 2: b", "Step 3: c"]),
                ("Step 1: a\nStep 2: as in Step 1: b", ["Step 1: a", "Step 2: as in Step 1: b"]),
                ("Step 1: $x = Step 2: y$. Step 2: z", ["Step 1: $x = Step 2: y$.", "Step 2: z"]),
            ]
        ),
        ("numbered", "See Step 1. Then go to Step 2.", ["See Step 1. Then go to Step 2."]),
        ("automatic", "## Find\n\na\n\n## Solve\n\nb", ["## Find\n\na", "## Solve\n\nb"]),
        ("automatic", "1. a\n   1. x\n   2. y\n2. b", ["1. a\n   1. x\n   2. y", "2. b"]),
        ("automatic", "We have:\n\n$$x = 1$$\n\nSo it is.", ["We have:\n\n$$x = 1$$", "So it is."]),
        ("automatic", "See.\n\n| a |\n|---|\n| 1 |\n\nDone.", ["See.\n\n| a |\n|---|\n| 1 |", "Done."]),
        ("automatic", "Run:\n\n```\na\n\nb\n```\n\n---\n\nDone.", ["Run:\n\n```\na\n\nb\n```\n\n---", "Done."]),
        ("automatic", "He pays $5.\r\nShe pays $7.\r\n", ["He pays $5.", "She pays $7."]),
        (
            "automatic",
            "a text that is\nwrapped by hand. And\nhas two sentences.",
            ["a text that is\nwrapped by hand.", "And\nhas two sentences."],
        ),
        ("automatic", "It costs $5. He pays $10. So $x = 2$.", ["It costs $5.", "He pays $10.", "So $x = 2$."]),
        ("automatic", "no end", ["no end"]),
    ],
)
def test_rules(rule, text, steps):
    assert split_by(rule, text) == steps


def test_a_long_paragraph_is_divided_at_its_sentences_and_no_formula_is():
    text = "\n\n".join(["One sentence of this. " * 200, "\\[ " + "x + " * 1000 + " \\]"])
    steps = split_by("automatic", text)
    assert max(map(len, steps[:-1])) <= LONGEST
    assert steps[-1].endswith("\\]")
    assert sum("\\[" in step for step in steps) == 1


@pytest.mark.slow
@pytest.mark.timeout(120)  # what grows with the square of the length takes an hour
@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize(
    "piece", ["$", "$a ", "```\n", "\\begin{a}", "\\[", "a. ", "\n ", "1. a\n", ".'", "$a$ b. ", "\n\n$$a$$"]
)
def test_a_long_text_of_any_kind_comes_to_its_end(rule, piece):
    text = piece * (150_000 // len(piece))
    assert "".join("".join(split_by(rule, text)).split()) == "".join(text.split())
