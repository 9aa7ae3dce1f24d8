"""The one exception of bad input."""


class InputError(Exception):
    """Something the user can fix: its message is one line that names the file, key or row, and the remedy."""
