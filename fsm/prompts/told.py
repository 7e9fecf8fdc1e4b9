"""What a system prompt was made of, in words for a person."""

from states.records import RunStarted


def loaded(run: RunStarted) -> list[str]:
    """A line for each source: layer, where it came from, size and digest, and what was left out."""
    lines = []
    for layer in run.layers:
        digest = f", {layer.size} bytes, sha256 {layer.sha256[:12]}" if layer.sha256 else ""
        lines.append(f"{layer.layer}: {layer.origin}{digest}{f' ({layer.note})' if layer.note else ''}")
    return lines
