"""The documentation site: pages of docs/, an API reference of the docstrings, and the output of every example.

`cargo xtask docs` builds it; by hand, in an environment with the package and requirements.txt:

    python -m sphinx -W --keep-going -E -b html -c docs/site docs target/docs

Nothing that a page shows is fetched when it is read: the folder works from the disk.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import dtwave  # noqa: E402

project = "dtwave"
copyright = "the dtwave authors, MIT or Apache-2.0"
version = release = dtwave.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "outside",
    "executed",
    "pictures",
    "docstrings",
    "checked",
]
exclude_patterns = ["site"]
nitpicky = False  # Docstrings put code in single backticks, which are links where they name something.
default_role = "py:obj"
highlight_language = "none"
suppress_warnings: list[str] = []

# Markdown: headings are link targets, as on GitHub.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "attrs_block", "deflist"]

# The page that a link out of docs/, to a folder or a section, becomes.
outside_links = {
    "../benchmarks/record": "performance.md",
    "../benchmarks/record/nvidia-h200/README.md#tried-half-precision-taken-out": "performance.md",
    "../benchmarks/record/nvidia-h200/README.md#searches-from-tensors-to-hits": "performance.md",
    "../benchmarks/record/nvidia-h200/README.md#through-vulkan-wgpu": "performance.md",
}

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "dtwave"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fbf", "color-brand-content": "#1f5fbf"},
    "dark_css_variables": {"color-brand-primary": "#7fb2ff", "color-brand-content": "#7fb2ff"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
# What is copied is what was typed.
copybutton_selector = "div.highlight:not(.output div) pre"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

# Every public name of these modules has an entry in the API reference.
public_modules = [
    "dtwave",
    "dtwave.datasets",
    "dtwave.plots",
    "dtwave.sklearn",
    "dtwave.torch",
    "dtwave.compat.tslearn.metrics",
    "dtwave.compat.tslearn.barycenters",
    "dtwave.compat.dtaidistance.dtw",
    "dtwave.compat.dtaidistance.dtw_ndim",
    "dtwave.compat.dtaidistance.subsequence.dtw",
]
