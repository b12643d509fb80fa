"""How Sphinx makes the site of what docs/site/assemble.py has put together. scripts/site runs both."""

import os
import pathlib

project = "Rooflab"
author = "Rooflab"
copyright = "Rooflab's authors"  # noqa: A001, the name is Sphinx's

extensions = ["myst_parser", "breathe"]
# Anchors are those of GitHub, so that a link in a handout leads to the same place there, in an editor, and here.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
smartquotes = False
highlight_language = "none"
# The style that both Pygments themes of Furo leave readable.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# One for each folder of headers: Breathe tells files apart by their names alone.
breathe_projects = {path.name: str(path / "xml") for path in pathlib.Path(os.environ["ROOFLAB_DOXYGEN"]).iterdir()}
breathe_show_include = False
toc_object_entries = False
# Each part is a program of its own: two parts may have a structure of one name, and all share the namespace rooflab.
# Examples on the pages of codes leave out what does not matter, with an ellipsis that is no C++.
suppress_warnings = ["duplicate_declaration.cpp", "misc.highlighting_failure"]
primary_domain = "cpp"
cpp_id_attributes = ["__global__", "__host__", "__device__", "__forceinline__"]

html_theme = "furo"
html_title = "Rooflab"
html_static_path = ["static"]
html_css_files = ["rooflab.css"]
# The summaries are fetched, which a page that is a file may not; the search itself may.
html_show_search_summary = False
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"sidebar_hide_name": False, "top_of_page_buttons": []}
