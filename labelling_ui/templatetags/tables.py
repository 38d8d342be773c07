"""Tables of rows by their columns: `{% table listing %}`."""

from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe

from labelling_ui.pages.columns import Column

register = template.Library()

PARTS = ("above", "card", "narrowed", "empty", "endtable")


class CellNode(template.Node):
    """A `{% cell %}`, which `TableNode` renders in its column."""

    def __init__(self, column: str, nodelist: NodeList) -> None:
        self.column = column
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        return SafeString("")


class TableNode(template.Node):
    def __init__(self, table: FilterExpression, parts: dict[str, NodeList]) -> None:
        self.table = table
        self.card = parts.pop("card", None)
        self.parts = parts
        self.cells: dict[str, NodeList] = {
            node.column: node.nodelist for part in parts.values() for node in part if isinstance(node, CellNode)
        }

    def render(self, context: Context) -> SafeString:
        table = self.table.resolve(context)
        slug = context["member"].project.slug if "member" in context else ""
        rows = list(table)
        columns = [column.among(rows) for column in table.columns]
        body = [self._row(columns, row, slug, context) for row in rows]
        whole = context.template.engine.get_template(f"labelling_ui/parts/{table.part}.html")  # type: ignore[union-attr]
        written = {name: part.render(context) for name, part in self.parts.items()}
        with context.push(table=table, body=body, cards=self.card is not None, parts=written):
            return whole.render(context)

    def _row(self, columns: list[Column], row: Any, slug: str, context: Context) -> Any:
        """A row's card, or its cells. A template for them would take most of the time of a page with fifty rows."""
        if self.card is None:
            cells = (_around(column) % self._cell(column, row, slug, context) for column in columns)
            return SafeString("".join(cells))
        with context.push(row=row):
            return self.card.render(context)

    def _cell(self, column: Column, row: Any, slug: str, context: Context) -> SafeString:
        html = column.html(row, slug)
        if column.name not in self.cells:
            return html
        with context.push(row=row, cell=html):
            return mark_safe(self.cells[column.name].render(context).strip())


def _around(column: Column) -> str:
    """The element of a column's cells, with %s for what is in it."""
    element = "th" if column.heading else "td"
    scope = ' scope="row"' if column.heading else ""
    looks = " ".join(filter(None, ["number" if column.number else "", column.look]))
    look = f' class="{looks}"' if looks else ""
    return f"<{element}{scope}{look}>%s</{element}>"


@register.tag
def table(parser: Parser, token: Token) -> TableNode:
    """The rows of a `Table`, or a `Listing` with its filters and its foot.

    `{% cell "name" %}` overrides a column's cell: `row` is the row and `cell` the column's own output.
    `{% card %}` renders each row as a card instead of a table row. `{% above %}` precedes the rows of a list and is
    refreshed with them. `{% narrowed %}` is shown if the filters leave no rows, `{% empty %}` if there are none.
    """
    _name, source = token.split_contents()
    parts, part = {}, "table"
    while part != "endtable":
        parts[part] = parser.parse(PARTS)
        part = parser.next_token().contents
    return TableNode(parser.compile_filter(source), parts)


@register.tag
def cell(parser: Parser, token: Token) -> CellNode:
    _name, column = token.split_contents()
    nodelist = parser.parse(("endcell",))
    parser.delete_first_token()
    return CellNode(column.strip('"'), nodelist)
