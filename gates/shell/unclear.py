"""The one way in which a reading of shell text ends without an answer."""


class Unclear(Exception):
    """The text's exit status shows nothing about its commands; the message says why, for the model and for people."""
