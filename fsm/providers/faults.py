"""What a server's error means: its own words, and which kind of trouble it is."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Final

from states.records import JSON, Trouble

from .json_bytes import dump
from .json_in import NotReadable, Reader, joined_halves

LONGEST: Final = 2000
"""Characters of a server's message that are kept (our choice)."""
PAGE: Final = 200
"""Characters of a web page that are quoted (our choice)."""

PASSING: Final = frozenset({408, 409, 425, 429})
"""4xx statuses that are worth another try; every 5xx is too."""

OUT_OF_MONEY: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
"""Codes of a 429 that no waiting cures."""
OVERFLOW_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
OVERFLOW_WORDS: Final = re.compile(
    r"maximum (context|prompt) length|context (length|window|size) (is |was |has been )?(exceeded|exceeds)"
    r"|exceeds? the (available |model'?s? |maximum )*(context|number of (input )?tokens)|exceed context limit"
    r"|prompt is too long|input is too long|prompt contains [\d,]+ tokens|reduce the length of the (messages|input)"
    r"|range of input length should be|prompt exceeds max length|exceeded model token limit"
    r"|prompt token count of [\d,]+ exceeds|initial prompt is greater than the context length"
    r"|inputs` tokens \+ `max_new_tokens` must be",
    re.IGNORECASE,
)
"""What OpenAI, Azure, vLLM, Mistral, Groq, DeepSeek, xAI, Gemini, Anthropic, Bedrock, llama.cpp, DashScope, Z.ai,
Moonshot, Copilot, LM Studio and Together say."""

STATUS_OF: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "throttling_error": 429,
    "overloaded_error": 529,
    "timeout_error": 504,
    "billing_error": 402,
    "request_too_large": 413,
    "invalid_prompt": 400,
    "server_is_overloaded": 503,
    "slow_down": 503,
}
"""Types of errors that come inside a 200 without a number; any other counts as a 500."""


class Fault(Exception):
    """One attempt that gave no whole answer. `trouble` None means that another try may help.

    `status` is the HTTP status, or the number in an error that came inside a 200; `after` is the wait in seconds
    that the server asked for.
    """

    def __init__(
        self, trouble: Trouble | None, message: str, status: int | None = None, after: float | None = None
    ) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.status = status
        self.after = after


def of_response(status: int, body: bytes, after: float | None = None, *, again: bool | None = None) -> Fault:
    """The fault that a response with this status and body stands for. `again` is the server's own word on a retry."""
    plain = _parse(body)
    words = ""
    if isinstance(plain, dict):
        text, words, _ = _read(plain.get("error") or plain)
    else:
        text = quoted(body) or "no further words"
    trouble = _judge(status, text, words)
    if again and trouble is Trouble.REFUSED and not frozenset(words.split()) & OUT_OF_MONEY:
        trouble = None
    elif again is False and trouble is None:
        trouble = Trouble.DOWN
    return Fault(trouble, f"HTTP {status}: {text}", status, after)


def of_event(error: JSON) -> Fault:
    """The fault in an error object that came inside a 200."""
    text, words, number = _read(error)
    status = number or next((STATUS_OF[word] for word in words.split() if word in STATUS_OF), 500)
    return Fault(_judge(status, text, words), f"error inside the stream: {text}", status)


def quoted(body: bytes) -> str:
    """The words of a page, without tags, shortened."""
    page = body[: 64 * 1024].decode("utf-8", "replace")
    page = re.sub(r"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", " ", page)
    return " ".join(unescape(page).split())[:PAGE]


def _judge(status: int, text: str, words: str) -> Trouble | None:
    codes = frozenset(words.split())
    if codes & OUT_OF_MONEY:
        return Trouble.REFUSED
    if status == 413 or codes & OVERFLOW_CODES:
        return Trouble.OVERFLOW
    if status in PASSING or status >= 500:
        return None
    return Trouble.OVERFLOW if status in (400, 422) and OVERFLOW_WORDS.search(text) else Trouble.REFUSED


def _read(error: JSON) -> tuple[str, str, int | None]:
    """The message, the codes and the number of an error in any shape in use: an object, a string, a list of them."""
    if isinstance(error, list) and error and isinstance(error[0], dict):
        return _read(error[0])
    if not isinstance(error, dict):
        return _text(error) or "no further words", "", None
    message = error.get("message") or error.get("detail") or error
    words = " ".join(str(error[key]) for key in ("code", "type") if error.get(key))
    return _text(message), words, _number(error.get("status_code")) or _number(error.get("code"))


def _text(message: JSON) -> str:
    return (joined_halves(message) if isinstance(message, str) else dump(message).decode()).strip()[:LONGEST]


def _number(value: JSON) -> int | None:
    """An HTTP status in an error object: a number, or its digits."""
    text = str(value)
    return int(text) if re.fullmatch("[45][0-9][0-9]", text) else None


def _parse(body: bytes) -> JSON:
    try:
        plain = Reader().read(body)
    except NotReadable:
        return None
    return plain[0] if isinstance(plain, list) and plain else plain
