"""What can go wrong in the library, each with a one-line message fit for a person."""


class PRMError(Exception):
    """Base of every error that the library raises on purpose."""


class DataError(PRMError):
    """Data that cannot be used; the message names file, line and field."""


class ModelFileError(PRMError):
    """A model folder that is corrupt, foreign, or of another format version."""
