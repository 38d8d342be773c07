"""A project's answers in its templates: `{% with answers=member.project|answers %}`."""

from django import template

from annotation.models import Project
from labelling_ui.answers import Answers, answers_of

register = template.Library()


@register.filter
def answers(project: Project) -> Answers:
    return answers_of(project.label_scheme)
