"""Words that explain themselves: `terms.js` shows the explanation under the pointer or the keyboard.

A word with an entry in the glossary links to it; any other word is a button that only explains. Screen readers read
the explanation after the word.
"""

import re

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from labelling_ui.glossary import AMBIGUOUS, EVERYDAY, TERMS, address_of, find_terms

register = template.Library()

_LINKED = "linked_terms"  # in the context: the terms that {% terms %} has linked on this page
_MARKUP = re.compile(r"(<(?P<whole>a|button|code|pre)\b.*?</(?P=whole)>|<[^>]*>)", re.DOTALL)


@register.simple_tag
def term(key: str, text: object = "") -> SafeString:
    """A term of the glossary, or `text` in its place, with its definition."""
    return explain(text or TERMS[key].name, TERMS[key].definition, key)


@register.simple_block_tag(takes_context=True)
def terms(context: Context, content: str) -> SafeString:
    """`{% terms %}`: up to `{% endterms %}`, the page's own words with each term linked where it first occurs.

    Not for what people or models wrote.
    """
    linked: set[str] = context.dicts[0].setdefault(_LINKED, set())
    pieces, end = [], 0
    for markup in _MARKUP.finditer(content):
        pieces += [_with_links(content[end : markup.start()], linked), markup.group()]
        end = markup.end()
    return SafeString("".join([*pieces, _with_links(content[end:], linked)]))


def _with_links(text: str, linked: set[str]) -> str:
    """The text with a link at the first occurrence of each term that is not `linked` yet."""
    if not text.strip():
        return text
    places = find_terms(text, TERMS.keys() - EVERYDAY - AMBIGUOUS - linked)
    pieces, end = [], 0
    for key, at in sorted(places.items(), key=lambda place: (place[1].start(), -place[1].end())):
        if at.start() >= end:  # not within a longer term
            linked.add(key)
            pieces += [text[end : at.start()], term(key, SafeString(at.group()))]
            end = at.end()
    return "".join([*pieces, text[end:]])


@register.simple_tag
def explain(text: object, sentence: object, key: str = "") -> SafeString:
    """The name of a chart or a statistic with its explanation; `key` links it to the glossary."""
    if key:
        return format_html('<a class="term" href="{}" aria-description="{}">{}</a>', address_of(key), sentence, text)
    return format_html('<button type="button" class="term" aria-description="{}">{}</button>', sentence, text)


@register.simple_tag
def explain_beside(text: object, sentence: object, key: str = "") -> SafeString:
    """A mark with the explanation of `text`, which is a link of its own."""
    if key:
        return format_html(
            '<a class="explain" href="{}" aria-label="{}" aria-description="{}"></a>', address_of(key), text, sentence
        )
    return format_html(
        '<button type="button" class="explain" aria-label="{}" aria-description="{}"></button>', text, sentence
    )


class FigureNode(template.Node):
    def __init__(
        self, name: FilterExpression, sentence: FilterExpression, key: FilterExpression | None, values: NodeList
    ) -> None:
        self.name = name
        self.sentence = sentence
        self.key = key
        self.values = values

    def render(self, context: Context) -> SafeString:
        key = self.key.resolve(context) if self.key else ""
        name = explain(self.name.resolve(context), self.sentence.resolve(context), key)
        return format_html('<div class="figure"><dt>{}</dt>{}</div>', name, self.values.render(context))


@register.tag
def figure(parser: Parser, token: Token) -> FigureNode:
    """`{% figure name sentence %}`: a statistic with its explanation; up to `{% endfigure %}`, its values as `<dd>`.

    `term=` links the name to the glossary.
    """
    _tag, name, sentence, *options = token.split_contents()
    key = token_kwargs(options, parser).get("term")
    values = parser.parse(("endfigure",))
    parser.delete_first_token()
    return FigureNode(parser.compile_filter(name), parser.compile_filter(sentence), key, values)
