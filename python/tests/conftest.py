"""Run with warnings as errors (pyproject.toml); the examples in docstrings are tests too."""
