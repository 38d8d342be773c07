"""A project's answers in its templates: `{% with answers=member.project|answers %}`."""

from django import template

from annotation.models import Project
from labelling_ui.answer_looks import Answers, answers_of
from labelling_ui.beside import beside_in_words, marks

register = template.Library()


@register.filter
def answers(project: Project) -> Answers:
    return answers_of(project.label_scheme)


register.filter("beside_in_words", beside_in_words)
register.filter("marks", marks)
