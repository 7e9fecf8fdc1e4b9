"""Long text, shortened in a way that says so."""


def shortened(text: str, keep: int) -> str:
    """The first and the last part of a text, about `keep` characters together; short text as it is."""
    left_out = len(text) - keep
    if left_out <= 0:
        return text
    note = f"\n[… {left_out} characters are left out here …]\n"
    if left_out <= len(note):
        return text
    head = keep * 2 // 3
    return text[:head] + note + text[len(text) - (keep - head) :]
