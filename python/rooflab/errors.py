"""The one kind of error that people see: a sentence that says what to do."""


class RooflabError(Exception):
    """Something that the person at the notebook can mend."""
