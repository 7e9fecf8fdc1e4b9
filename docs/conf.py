"""How the pages are built: `sphinx-build -W -b html docs docs/_build`."""

import re

project = "Interlock"
author = "the Interlock authors"
copyright = author  # noqa: A001  the name that Sphinx reads
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Interlock"
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 3
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_preserve_defaults = True


_FIELD = re.compile(r"([a-z_]+(?:, [a-z_]+)*): (.+)")


def _parameters_as_fields(app, what, name, obj, options, lines):  # noqa: PLR0917  Sphinx calls it so
    """Docstrings say `name: what it is` per parameter; reStructuredText calls that a field list and wants colons."""
    shaped, within = [], False
    for line in lines:
        field = _FIELD.match(line)
        if (field and not within) or (within and not field and not line.startswith(" ")):
            shaped.append("")
        within = bool(field) or (within and line.startswith(" "))
        shaped.append(f":{field[1]}: {field[2]}" if field else line)
    lines[:] = shaped


def setup(app):
    app.connect("autodoc-process-docstring", _parameters_as_fields, priority=1000)
