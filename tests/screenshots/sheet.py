"""Where the pictures lie, how they look, and the sheet that shows them side by side."""

import html
import os
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("var/screenshots")


class Look(NamedTuple):
    """A size and a theme."""

    width: int
    theme: str

    @property
    def name(self) -> str:
        return f"{self.width}-{self.theme}"


LOOKS = tuple(Look(width, theme) for width in (1280, 400) for theme in ("light", "dark"))
OTHER_WIDTHS = (Look(2560, "light"), Look(768, "light"))
ALL = (*LOOKS, *OTHER_WIDTHS)
STYLE = """
body { margin: 24px; font: 14px/1.5 system-ui, sans-serif; color: #1a1e25; background: #f5f6f8 }
h2 { margin: 32px 0 8px; font-size: 16px }
.row { display: grid; grid-template-columns: 4fr 4fr 1.25fr 1.25fr; gap: 16px; align-items: start }
img { width: 100%; border: 1px solid #d5dae2; display: block }
"""


def folder() -> Path:
    found = Path(os.environ.get("STEPMARK_SCREENSHOTS", FOLDER))
    found.mkdir(parents=True, exist_ok=True)
    return found


def wanted(looks: tuple[Look, ...]) -> list[Look]:
    """Those of the looks that were asked for."""
    chosen = os.environ.get("STEPMARK_LOOKS", "").split()
    return [look for look in looks if not chosen or look.name in chosen]


def picture(state: str, look: Look) -> Path:
    return folder() / f"{state}-{look.name}.png"


def write_sheet() -> Path:
    """`index.html`: a row for each state of which there are pictures, every look in a column."""
    states = sorted({file.name.removesuffix(f"-{look.name}.png") for look in ALL for file in _of(look)})
    rows = "".join(f"<h2>{html.escape(state)}</h2><div class=row>{_images(state)}</div>" for state in states)
    sheet = folder() / "index.html"
    sheet.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Every page and state</title><style>{STYLE}</style>"
        f"<h1>Every page and state</h1>{rows}</html>"
    )
    return sheet


def _of(look: Look) -> list[Path]:
    return list(folder().glob(f"*-{look.name}.png"))


def _images(state: str) -> str:
    files = [picture(state, look).name for look in ALL if picture(state, look).exists()]
    return "".join(f'<a href="{file}"><img src="{file}" alt="{html.escape(file)}"></a>' for file in files)
