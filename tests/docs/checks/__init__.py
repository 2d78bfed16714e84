"""Checks of the documentation, one module a subject. Each check is a function `Book -> list of findings (strings)`."""
