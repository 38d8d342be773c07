"""The states of the workbench."""

import re
from dataclasses import replace

from tests.screenshots import acts, given
from tests.screenshots.acts import clicked, keys, one_after_the_other, typed, unfolded
from tests.screenshots.sheet import OTHER_WIDTHS, Look
from tests.screenshots.state import State

LABEL = "/p/algebra/label/"
READING = "/p/reading/label/"
EMPTY = "/p/empty/label/"
PRACTICE = "/p/practice/practice/"
ENDS = (Look(1280, "light"), Look(400, "dark"))


def work(name: str, *done: acts.Act, address: str = LABEL, who: str = "annotator", **more: object) -> State:
    return State(f"work-{name}", address, who, one_after_the_other(*done), **more)  # type: ignore[arg-type]


SENT_BACK = work("sent-back", acts.came_back(1), address="/p/algebra/my-work/", given=given.sent_back)
UNSENT = work("offline-unsent", acts.offline_unsent)
SKIP = work("skip", keys("s"))
SHORTCUTS = work("keys", keys("?"))
FIRST_ERROR = work("first-error", keys("1", "3"))
CANDIDATES = work("candidates", keys("1", "1", "1", "x", "3", "1"), address="/p/choosing/label/")
ERROR_ASKED = work("error-asked", keys("u", "q"), address="/p/asking/label/")
DIMENSIONS = work("dimensions", keys("1", "3", "d", "p"), address="/p/dimensions/label/")
REFUSED = work("refused", acts.refused)
AGENT_RUN = work("agent-run", keys("1", "1", "1", "1", "3"), address=READING, given=given.agent_run)
HUNDREDS = work(
    "500-steps",
    acts.read_to("1", 40),
    keys("3", "q", "4", "2", "0"),
    address=READING,
    given=given.hundreds,
    whole=False,
)
PRACTICE_WRONG = State("practice-wrong", PRACTICE, "annotator", acts.practised("e", "Enter"))
SCREENING_BEGINS = work("screening-begins", keys(), address=EMPTY, given=given.screened())
BEGUN = work("begun", keys("1", "2"))

READING_STATES = [
    AGENT_RUN,
    HUNDREDS,
    work("500-steps-begun", keys(), address=READING, given=given.hundreds, whole=False),
    work("broken-formulas", keys("1"), address=READING, given=given.broken),
    work("long-step", keys("1"), address=READING, given=given.long_step),
    work("search", typed("answer", "/")),
    work("search-nothing", typed("tangent", "/")),
    work("go-to", keys("1", "q", "4")),
    work("reference", unfolded(keys("r"))),
    work("reference-hidden", unfolded(keys())),
    work("reference-wrong", unfolded(keys("r")), clicked("The reference is wrong")),
    work("hint", keys("1", "1"), who="hinted"),
]
RATING_STATES = [
    BEGUN,
    FIRST_ERROR,
    work("finished", keys("1", "1", "1", "1", "1")),
    work("not-ready", keys("1", "Enter")),
    work("read-on", keys("0"), address=READING, given=given.hundreds, whole=False),
    work("comment", typed("The sign is wrong.", "1", "c")),
    work("mark-text", keys("a")),
    work("spans", keys("3", "a", "Shift+ArrowRight", "a")),
    work("flagged", keys("f", "4")),
    work("note", unfolded(clicked("Add a note"))),
    work("own-step", typed("$5x = 6x - 14$, so $x = 14$.", "1", "3", "o")),
    CANDIDATES,
    ERROR_ASKED,
    DIMENSIONS,
]
ENDING_STATES = [
    SKIP,
    work("give-up", unfolded(clicked("Give up"))),
    work("bad-problem", unfolded(clicked("Bad problem", "Something is missing"))),
    work("revised", acts.changed, address="/p/algebra/my-work/", given=given.sent_back),
    SENT_BACK,
]
PACE_STATES = [
    work("break", keys("1", "b")),
    work("break-due", acts.break_due, given=given.policy("algebra", pace={"break_after_minutes": 1})),
    work("sitting", clicked(re.compile(r"^\d+ today$"))),
    work("goal-reached", acts.handed_in, given=given.policy("algebra", pace={"session_goal": 1})),
    work("lease-ends", acts.left_alone),
    work("lease-lost", acts.lost),
]
SAVING_STATES = [
    work("offline", acts.offline),
    UNSENT,
    work("offline-nothing-left", acts.offline_at_the_end),
    work("signed-out", acts.signed_out),
    REFUSED,
    work("scheme-changed", acts.changed_meanwhile, address="/p/dimensions/label/"),
    work("two-drafts", acts.two_drafts),
    work("two-labels", acts.two_labels),
]
HELP_STATES = [
    SHORTCUTS,
    work("guidelines", keys("g")),
    State("practice-none", "/p/algebra/practice/", "annotator"),
    State("practice-begun", PRACTICE, "annotator", keys("1")),
    PRACTICE_WRONG,
    State("practice-end", PRACTICE, "annotator", acts.practised_all),
    State("practice-right", PRACTICE, "annotator", acts.practised("j", "e", "Enter")),
    PRACTICE_WRONG,
    SCREENING_BEGINS,
    work("screening-underway", keys("1"), address=EMPTY, given=given.screened(True)),
    work("screening-passed", keys(), address=EMPTY, given=given.screened(True, True, False)),
    work("screening-again", keys(), address=EMPTY, given=given.screened(True, False, False, attempts=2)),
]
NO_WORK = [
    work("nothing-left", address=EMPTY),
    work("screening-failed", address=EMPTY, given=given.screened(False, False, True)),
    work("screening-unready", address=EMPTY, given=given.unready),
    work("paused", address=EMPTY, given=given.paused),
    work("all-taken", address=EMPTY, given=given.all_taken),
    work("enough-for-today", address=EMPTY, given=given.enough_for_today),
    work("just-seen", address=EMPTY, given=given.just_seen),
    work("other-fields", address=EMPTY, given=given.other_fields),
    work("no-annotator", address=EMPTY, who="superuser"),
]
GERMAN = [
    SENT_BACK, UNSENT, REFUSED, SKIP, SHORTCUTS, FIRST_ERROR, CANDIDATES, ERROR_ASKED, DIMENSIONS, AGENT_RUN,
    PRACTICE_WRONG, SCREENING_BEGINS,
]  # fmt: skip
FROM_RIGHT_TO_LEFT = [SENT_BACK, FIRST_ERROR, CANDIDATES, ERROR_ASKED, DIMENSIONS, AGENT_RUN, SHORTCUTS]
FAR_AND_NEAR = [BEGUN, FIRST_ERROR, HUNDREDS, AGENT_RUN, ERROR_ASKED, SENT_BACK, PRACTICE_WRONG]
# For the README: `--only picture-workbench`, then docs/pictures/workbench.png is its picture.
README = State(
    "picture-workbench",
    "/p/mathematics/label/",
    "annotator",
    one_after_the_other(keys("1", "1", "1", "1", "2", "1", "1", "3", "t", "1"), acts.saved),
    given.tetrahedron,
    looks=ENDS[:1],
    whole=False,
)
STATES = [
    *READING_STATES,
    *RATING_STATES,
    *ENDING_STATES,
    *PACE_STATES,
    *SAVING_STATES,
    *HELP_STATES,
    *(state.at(*ENDS) for state in NO_WORK),
    *(state.in_german().at(*ENDS) for state in GERMAN),
    *(state.from_right_to_left().at(*ENDS) for state in FROM_RIGHT_TO_LEFT),
    *(replace(state, name=f"wide-{state.name}", looks=OTHER_WIDTHS, whole=False) for state in FAR_AND_NEAR),
    README,
]
