"""Colours and lettering of the SVG, for a light and a dark page."""

from enum import StrEnum
from typing import Final

import attrs


@attrs.frozen
class Palette:
    """CSS colours."""

    ground: str
    card: str
    line: str
    text: str
    dim: str
    retry: str
    suspend: str
    fail: str
    good: str
    taken: str


LIGHT: Final = Palette(
    ground="#ffffff",
    card="#f6f8fa",
    line="#c8d1da",
    text="#1f2328",
    dim="#656d76",
    retry="#0969da",
    suspend="#9a6700",
    fail="#cf222e",
    good="#1a7f37",
    taken="#8250df",
)
DARK: Final = Palette(
    ground="#0d1117",
    card="#161b22",
    line="#3d444d",
    text="#e6edf3",
    dim="#8d96a0",
    retry="#58a6ff",
    suspend="#d29922",
    fail="#f85149",
    good="#3fb950",
    taken="#bc8cff",
)
"""Both after the page colours of GitHub, where most readers see the picture."""

_MONO: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace"
_SANS: Final = "-apple-system,'Segoe UI',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif"

_SHAPES: Final = f"""
text{{font:12px {_MONO}}}
.state{{font-weight:700;font-size:15px}}
.event,.also,.number{{font-size:11px}}
.fact,.event{{font-style:italic}}
.also{{font-style:normal}}
.sum{{font-weight:700}}
.small{{font:12px {_SANS}}}
.card,.note{{stroke-width:1.25}}
.rest,.note{{stroke-dasharray:1.5 3.5;stroke-linecap:round}}
.track,.gap,.rule,.taken{{fill:none}}
.gap{{stroke-width:6}}
.onward{{stroke-width:1.5}}
.main{{stroke-width:2.5}}
.retry{{stroke-width:1.5;stroke-dasharray:6 4}}
.suspend{{stroke-width:1.9;stroke-dasharray:.1 4.4;stroke-linecap:round}}
.fail{{stroke-width:1}}
.taken{{stroke-width:3.5}}
.faded{{opacity:.4}}
.times{{font-size:9px}}
.here{{stroke-width:4}}
tspan,.head,.number{{stroke:none}}
"""
_COMPARED: Final = """.added,.removed{stroke-width:3.5;fill:none}
.removed{stroke-dasharray:2 5}
text.added,text.removed{font-weight:700}
text.removed{text-decoration:line-through}
"""


class Theme(StrEnum):
    """Whose colours a picture has."""

    AUTO = "auto"
    """The reader's scheme: light, or dark where that is preferred."""
    LIGHT = "light"
    DARK = "dark"


def sheet(theme: Theme, *, compares: bool = False) -> str:
    """The style sheet of a picture. compares: of two tables."""
    if theme is Theme.AUTO:
        return f"{_sheet(LIGHT, compares)}@media (prefers-color-scheme:dark){{{_colours(DARK, compares)}}}\n"
    return _sheet(DARK if theme is Theme.DARK else LIGHT, compares)


def _sheet(palette: Palette, compares: bool) -> str:
    return _SHAPES + (_COMPARED if compares else "") + _colours(palette, compares)


def _colours(palette: Palette, compares: bool) -> str:
    ways = {"onward": palette.text, "retry": palette.retry, "suspend": palette.suspend, "fail": palette.fail}
    rules = [
        f".ground{{fill:{palette.ground}}}",
        f"text{{fill:{palette.text}}}",
        f".dim,.also,.event{{fill:{palette.dim}}}",
        f".card{{fill:{palette.card};stroke:{palette.line}}}",
        f".note{{fill:none;stroke:{palette.line}}}",
        f".rule{{stroke:{palette.line};stroke-width:1}}",
        f".gap{{stroke:{palette.ground}}}",
        *(f".track.{way}{{stroke:{colour}}}" for way, colour in ways.items()),
        *(f".head.{way},tspan.{way},text.{way}{{fill:{colour}}}" for way, colour in ways.items()),
        f".card.succeeded{{stroke:{palette.good}}}text.succeeded{{fill:{palette.good}}}",
        f".card.failed{{stroke:{palette.fail}}}text.failed{{fill:{palette.fail}}}",
        f".card.suspended{{stroke:{palette.suspend}}}text.suspended{{fill:{palette.suspend}}}",
        f".taken{{stroke:{palette.taken}}}.took,.times{{fill:{palette.taken};font-weight:700}}.here{{stroke:{palette.taken}}}",
    ]
    if compares:
        looks = {"added": palette.good, "removed": palette.fail}
        rules += [f".track.{look}{{stroke:{colour}}}" for look, colour in looks.items()]
        rules += [f".head.{look},text.{look},tspan.{look}{{fill:{colour}}}" for look, colour in looks.items()]
    return "\n".join(rules) + "\n"
