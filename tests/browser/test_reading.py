"""Texts of files in the workbench: agent runs, hostile texts, long solutions, search."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Step
from tests.factories import MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

DELIMITED = [
    "$x$",
    "$ \\frac{1}{2} $",
    "$$x$$",
    "\\(x\\)",
    "\\[x\\]",
    "\\begin{align*}a&=b\\end{align*}",
    "\\boxed{4}",
    "$\\boxed{4}$",
]
BROKEN = ["\\(\\frac{1}{\\)", "$\\nosuch{x}$"]


# Of everything that KaTeX positions or clips.
FORMULAS = (
    r"\frac{\frac12}{\sqrt{x^2+3}} \sqrt[3]{y} \binom nk",
    r"\sum_{k=1}^{n} k^{2^2} = \int_0^m \left(1+\frac tn\right)^n \lim_{x\to0} f''",
    r"\vec{v} \widehat{abc} \overline{AB} \overrightarrow{AB} \underline{xy} \overbrace{a+b}^{n} \underbrace{c}_{m}",
    r"\cancel{x} \xcancel{ab} \boxed{x=\frac12} \xrightarrow[under]{over} \not= \mathrlap{xyz}e \overset{a}{b}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{array}{|c|c|}\hline 1 & 2 \\ \hline\end{array}",
    r"\begin{cases} x & x>0 \\ -x & x\le0\end{cases} \rule{1em}{2em} \raisebox{1em}{up} \smash{y^2}",
)
# Where each box of a formula stands, as the page has it or by KaTeX's own rules.
BOXES = """own => {
    const theirs = new CSSStyleSheet();
    theirs.replaceSync(`.katex .pstrut { overflow: hidden !important; }
        .katex :is(.katex-base, .vlist) { position: relative !important; }`);
    document.adoptedStyleSheets = own ? [] : [theirs];
    return [...document.querySelectorAll(".shown .katex *")].map((box) => {
        const { x, y, width, height } = box.getBoundingClientRect();
        return [x, y, width, height].map((length) => length.toFixed(2)).join();
    });
}"""


@pytest.fixture
def read(page_for: Callable[..., Page]) -> Callable[[list[tuple[str, str]]], Page]:
    """The workbench with a solution of these steps, each a kind and a text."""

    def read(steps: list[tuple[str, str]]) -> Page:
        item = QueueItemFactory(solution__steps=[text for _, text in steps])
        for position, (kind, _) in enumerate(steps):
            Step.objects.filter(solution=item.solution, position=position).update(kind=kind)
        page = page_for(MembershipFactory(project=item.project).user)
        page.goto(f"/p/{item.project.slug}/label/")
        expect(page.locator(".shown .step")).to_have_count(len(steps))
        page.wait_for_load_state("networkidle")  # no request outlives the test into the next one's database
        return page

    return read


def test_an_agent_run_shows_plan_message_call_observation_and_edit_as_different_things(
    read: Callable[[list[tuple[str, str]]], Page],
) -> None:
    page = read(
        [
            ("plan", "- read the file\n- fix it"),
            ("reasoning", "Let me see."),
            ("tool_call", 'I look.\nBash({"command": "cat a.py\\nls", "timeout": 5})'),
            ("observation", "\n".join(f"line {n} of the file" for n in range(1, 101))),
            (
                "edit",
                'Edit({"file_path": "a.py", "old_string": "x = 1\\ny = 2", "new_string": "x = 1\\ny = 3"})',
            ),
            ("answer", "Done: $y = 3$."),
        ]
    )
    kinds = page.locator(".shown .step .kind")
    expect(kinds).to_have_text(["Plan", "Message", "Tool call", "Observation", "Edit", "Answer"])
    call = page.get_by_role("region", name="Call of Bash")
    expect(call.locator("dt")).to_have_text(["command", "timeout"])
    expect(call.locator(".line")).to_have_text(["cat a.py", "ls"])
    observation = page.locator(".shown .step.observation")
    expect(observation).not_to_contain_text("line 100 of the file")
    edit = page.locator(".shown .step.edit")
    expect(edit.locator(".line.removed")).to_have_text("-y = 2")
    expect(edit.locator(".line.added")).to_have_text("+y = 3")
    observation.get_by_role("button", name="Show all 100 lines").click()
    expect(observation).to_contain_text("line 100 of the file")


def test_search_goes_to_what_is_folded_away_and_marks_it(read: Callable[[list[tuple[str, str]]], Page]) -> None:
    page = read(
        [
            ("reasoning", "We look for the **needle** in it."),
            ("observation", "\n".join(["hay"] * 90 + ["a needle here"])),
        ]
    )
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    bar = page.get_by_role("search")
    expect(bar).to_contain_text("1 of 2")
    expect(page.locator(".shown .step").nth(0)).to_have_class("step reasoning current")
    page.keyboard.press("Enter")
    expect(bar).to_contain_text("2 of 2")
    expect(page.locator(".shown .step.observation.current")).to_contain_text("a needle here")
    expect(page.locator(".map .found")).to_have_count(2)
    marked = page.evaluate("[...CSS.highlights.get('found-here')].map(String)")
    assert marked == ["needle"]
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)
    expect(page.locator(".shown .step.observation.current")).to_be_focused()
    assert page.evaluate("CSS.highlights.has('found-here')") is False


def test_formulas_tables_and_code_are_drawn_what_is_broken_stands_as_written_and_what_is_long_folds(
    read: Callable[[list[tuple[str, str]]], Page],
) -> None:
    texts = [
        "\n\n".join(DELIMITED),
        f"So {BROKEN[0]} and {BROKEN[1]}, and on.",
        "## Cases\n\n| a | b |\n|---|--:|\n| **1** | $x$ |\n\n```python\nprint(1)\n```",
        f"{'We add one more. ' * 3_800}And here it ends.",
    ]
    page = read([("reasoning", text) for text in texts])
    steps = page.locator(".shown .step")
    expect(steps.nth(0).locator(".formula .katex-html")).to_have_count(len(DELIMITED))
    expect(steps.nth(1).locator("code.source")).to_have_text(BROKEN)
    expect(steps.nth(1)).to_contain_text("and on.")
    expect(steps.nth(2).get_by_role("cell")).to_have_text(["1", re.compile("x")])
    expect(steps.nth(2).locator("strong")).to_have_text("1")
    expect(steps.nth(2).locator(".hljs-built_in")).to_have_text("print")
    page.locator(".map button").nth(3).click()
    expect(steps.nth(3)).to_have_attribute("aria-current", "step")
    expect(steps.nth(3)).not_to_contain_text("And here it ends.")
    steps.nth(3).get_by_role("button", name="Show the remaining").click()
    expect(steps.nth(3)).to_contain_text("And here it ends.")


def test_nothing_that_a_text_names_is_loaded_run_or_followed(read: Callable[[list[tuple[str, str]]], Page]) -> None:
    asked: list[str] = []
    hostile = [
        "![a](https://example.org/a.png) ![b](//example.org/b.png) [c](javascript:alert(1)) <https://example.org/d>",
        f"![mine](data:image/png;base64,{PIXEL}) ![no](data:image/svg+xml;base64,PHN2Zz4=)",
        "<script>document.title='x'</script><style>body{display:none}</style><iframe src=https://example.org></iframe>",
        "$\\includegraphics{https://example.org/e.png}$ $\\href{https://example.org}{x}$ $\\htmlStyle{color:red}{x}$",
        "```python\nprint('</code><img src=https://example.org/f.png onerror=alert(1)>')\n```",
    ]
    page = read([("reasoning", text) for text in hostile])
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.reload()
    expect(page.locator(".shown .step")).to_have_count(len(hostile))
    expect(page.locator(".shown .step .hljs-built_in")).to_have_text("print")
    page.wait_for_load_state("networkidle")
    texts = page.locator(".shown .step .text")
    expect(texts.locator("a, script, style, iframe")).to_have_count(0)
    expect(texts.locator("img")).to_have_attribute("alt", "mine")
    expect(texts.nth(0)).to_contain_text("https://example.org/a.png")
    expect(texts.nth(2)).to_contain_text("<iframe src=https://example.org></iframe>")
    assert [address for address in asked if "example.org" in address or "alert" in address] == []


def test_only_steps_near_the_screen_are_typeset_and_the_others_as_one_comes_to_them(
    read: Callable[[list[tuple[str, str]]], Page],
) -> None:
    page = read([("reasoning", f"Step number {n}: $x_{{{n}}} = {n}$.") for n in range(300)])
    expect(page.locator(".shown .step").first.locator(".katex")).to_be_visible()
    assert 0 < page.locator(".shown .step .katex").count() < 150
    last = page.locator(".shown .step").last
    expect(last).to_contain_text("Step number 299: $x_{299} = 299$.")
    last.scroll_into_view_if_needed()
    expect(last.locator(".katex")).to_be_visible()
    expect(page.locator(".shown .step").nth(5).locator(".katex")).to_have_count(0)


def test_formulas_stand_as_katex_lays_them_out_without_what_costs_time_while_scrolling(
    read: Callable[[list[tuple[str, str]]], Page],
) -> None:
    page = read([("reasoning", f"Here is $${tex}$$ and ${tex}$ in a line.") for tex in FORMULAS])
    expect(page.locator(".shown .formula")).to_have_count(2 * len(FORMULAS))
    strut, table = page.locator(".shown .pstrut").first, page.locator(".shown .vlist").first
    expect(strut).to_have_css("overflow", "visible")
    expect(table).to_have_css("position", "static")
    own = page.evaluate(BOXES, True)
    assert len(own) > 1_000
    assert page.evaluate(BOXES, False) == own
    expect(strut).to_have_css("overflow", "hidden")
