"""Templates of projects: a label scheme with guidelines in each language, to begin from and to change."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

HERE = Path(__file__).parent
LANGUAGE = "en"  # of a reader whose own language has no guidelines
Terms = list[tuple[str | Promise, str | Promise]]  # name and explanation


@dataclass(frozen=True)
class ProjectTemplate:
    """A scheme's fields, with its terms in the reader's language, under a name that people choose by."""

    name: str
    title: Promise
    summary: Promise
    fields: dict[str, Any]
    error_types: Terms = field(default_factory=list)
    policy_clauses: Terms = field(default_factory=list)

    @property
    def scheme(self) -> dict[str, Any]:
        """The label scheme, as `create_project` takes it."""
        terms = {"error_types": self.error_types, "policy_clauses": self.policy_clauses}
        written = {
            kind: [{"name": str(name), "help": str(text)} for name, text in some]
            for kind, some in terms.items()
            if some
        }
        return self.fields | written

    @property
    def guidelines(self) -> str:
        """Markdown, in the reader's language."""
        return guidelines_of(self.name, (get_language() or LANGUAGE).partition("-")[0])


TEMPLATES = {
    template.name: template
    for template in (
        ProjectTemplate(
            "first_error",
            _("First error"),
            _("Rate steps until the first error. The fastest way to train a model."),
            {},
        ),
        ProjectTemplate(
            "every_step",
            _("Every step, +1/0/−1"),
            _("Rate every step as good, neutral or bad, also after an error."),
            {"stop_at_first_error": False},
        ),
        ProjectTemplate(
            "prm800k_phase_1",
            _("PRM800K phase 1"),
            _("Rate the candidates for each step and continue with the best."),
            {"choose_path": True, "ask_own_step": True},
        ),
        ProjectTemplate(
            "agent_run",
            _("Agent run"),
            _("Rate plans, tool calls and replies, and mark recoveries."),
            {"stop_at_first_error": False, "recovery": True, "redundancy": True},
            error_types=[
                (_("Wrong tool"), _("Another tool, or none, was needed.")),
                (_("Wrong arguments"), _("The right tool with wrong or missing arguments.")),
                (_("Misread reply"), _("The step contradicts what a tool replied.")),
                (_("Unsupported claim"), _("Nothing in the run supports the claim.")),
                (_("Unsafe action"), _("The step changes or deletes something without need or permission.")),
                (_("Ended wrongly"), _("The run ends before the task is done, or continues after it.")),
            ],
        ),
        ProjectTemplate(
            "code_change",
            _("Code change"),
            _("Review the reasoning and each edit of a change."),
            {"stop_at_first_error": False, "recovery": True},
            error_types=[
                (_("Wrong logic"), _("The code does not do what the task needs.")),
                (_("Broken behaviour"), _("Something that worked before fails.")),
                (_("Missed case"), _("An edge case or a call site is missing.")),
                (_("Security"), _("The change opens a security hole.")),
                (_("Wrong claim"), _("The text says something that the code or its output does not show.")),
            ],
        ),
        ProjectTemplate(
            "policy_rubric",
            _("Policy rubric"),
            _("Check every step against the clauses of your policy."),
            {"stop_at_first_error": False},
            policy_clauses=[
                (_("Honest"), _("States nothing false, and says what it does not know.")),
                (_("Permitted"), _("Does nothing that the user or the operator has not allowed.")),
                (_("Private"), _("Reveals no personal data without need.")),
                (_("Harmless"), _("Gives no help that could seriously hurt somebody.")),
            ],
        ),
    )
}


def guidelines_of(name: str, language: str) -> str:
    """The guidelines of a template in a language, in English if that language has none."""
    own = HERE / language / f"{name}.md"
    known = language in dict(settings.LANGUAGES) and own.is_file()
    return (own if known else HERE / LANGUAGE / f"{name}.md").read_text()
