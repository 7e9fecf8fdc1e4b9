"""The conversation: what is durable, each with its record; and what was shown once and is void."""

from collections.abc import Iterable
from typing import Final

import attrs
import orjson

from fsm.prompts.told import loaded
from states.messages import Call, Foreign, Image, Reasoning, text_of
from states.prompt import composed
from states.records import (
    JSON,
    Approval,
    ApprovalAsked,
    AssistantTurn,
    Cancellation,
    ChainChange,
    Compaction,
    CompactionFailure,
    Entry,
    Failed,
    Finalized,
    Metadata,
    Prestart,
    PrestartsDropped,
    ProviderChange,
    Resumed,
    RunStarted,
    Source,
    Suspended,
    ToolIntent,
    ToolResult,
    TurnDiscarded,
    TurnFailure,
    Understood,
    UserInput,
    Verdict,
)
from states.verdicts import Pass, Retry

from .words import Clipped, clipped, lasting

SHOWABLE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
LARGEST: Final = 1_000_000
"""Characters of base64 up to which a picture is put into the page (our choice: a screen shot)."""


@attrs.define
class Spoken:
    """One call of a turn and what became of it. Numbers are records; 0: there is none."""

    id: str
    name: str
    arguments: Clipped
    asked: int
    intent: int = 0
    result: int = 0
    status: str = ""
    took: str = ""
    output: Clipped = attrs.field(factory=lambda: Clipped(""))
    facts: tuple[tuple[str, str], ...] = ()
    pictures: tuple[str, ...] = ()
    """`data:` URLs."""
    left_out: int = 0
    """Pictures that are not shown."""
    approval: str = ""


@attrs.define
class Item:
    """Something that was said. `seq` 0: it is not in the journal. `to_model`: the model read it."""

    who: str
    seq: int
    text: Clipped
    title: str = ""
    thinking: Clipped | None = None
    calls: list[Spoken] = attrs.field(factory=list)
    to_model: bool = False
    facts: tuple[str, ...] = ()
    """Where its words came from, a line each."""
    void: str = ""
    """Shown as it came, then void: why."""


def conversation(entries: Iterable[Entry]) -> list[Item]:
    """Everything that was said, in the journal's order; what became of a call stands with the call."""
    found: list[Item] = []
    calls: dict[str, Spoken] = {}
    early: dict[str, int] = {}
    fence = 0
    for entry in entries:
        if 0 < fence < entry.fence:
            lost = (
                f"What was shown after record {entry.seq - 1}, before another process went on, is not in the journal."
            )
            found.append(Item("process", 0, Clipped(""), void=lost))
        fence = entry.fence
        _follow(entry, calls)
        if isinstance(entry.record, Prestart):
            early[entry.record.call] = entry.seq
        item = _said(entry)
        if item is not None:
            found.append(item)
            for call in item.calls:
                calls[call.id] = call
                call.intent = early.get(call.id, call.intent)
            early = {}
    return found


def _said(entry: Entry) -> Item | None:
    match entry.record:
        case RunStarted() as run:
            title = f"run {run.run}: model {run.model}, permission {run.permission}"
            return Item("run", entry.seq, clipped(composed(run.system, run.layers)), title, facts=tuple(loaded(run)))
        case UserInput(text=text, source=source, context=context):
            who = "user" if source is Source.INPUT else str(source)
            return Item(who, entry.seq, clipped(f"{context}\n\n{text}" if context else text), to_model=True)
        case Understood(kinds=kinds, phrases=phrases, waived=waived, not_owed=not_owed):
            owed = (
                f"owes {', '.join(kinds)}"
                if kinds and not not_owed
                else f"owes nothing of it: {not_owed}"
                if not_owed
                else ""
            )
            off = f"must not run {', '.join(waived)}" if waived else ""
            return Item("understood", entry.seq, clipped(" / ".join(phrases)), "; ".join(filter(None, (owed, off))))
        case AssistantTurn() as turn:
            return _turn(entry.seq, turn)
        case TurnFailure(trouble=trouble, message=message):
            void = "What was shown of this answer is void: it never was whole."
            return Item("model", entry.seq, clipped(message), f"no answer ({trouble})", void=void)
        case PrestartsDropped(epoch=epoch, reason=reason, fates=fates):
            void = f"{len(fates)} calls that had started while it was streamed are void."
            return Item("model", entry.seq, clipped(reason), f"epoch {epoch} begins", void=void)
        case TurnDiscarded(epoch=epoch, reason=reason):
            return Item(
                "model", entry.seq, clipped(reason), f"epoch {epoch} begins", void="What was shown before is void."
            )
        case Cancellation(reason=reason):
            return Item("stopped", entry.seq, clipped(reason), void="An answer that was being shown is void.")
    return _arranged(entry) or _judged(entry)


def _arranged(entry: Entry) -> Item | None:
    """Who is asked, and what of the conversation they still see."""
    match entry.record:
        case ProviderChange(epoch=epoch, model=model, reason=reason):
            return Item("model", entry.seq, clipped(reason), f"epoch {epoch}: {model} is asked from now on")
        case ChainChange(models=models):
            return Item("model", entry.seq, clipped(", then ".join(models)), "asked from now on")
        case Compaction() as made:
            what = f"compacted ({made.cause}, {made.how}): about {made.before} tokens became {made.after}"
            return Item("context", entry.seq, clipped(made.summary), what, to_model=True)
        case CompactionFailure(message=message):
            return Item("context", entry.seq, clipped(message), "could not be compacted")
    return None


def _judged(entry: Entry) -> Item | None:
    match entry.record:
        case Verdict(gate=gate, ruling=Retry(reason=reason, message=message)):
            return Item(f"gate {gate}", entry.seq, clipped(message), f"sends it back: {reason}", to_model=bool(message))
        case Verdict(gate=gate, ruling=Pass(hint=hint)) if hint:
            return Item(f"gate {gate}", entry.seq, clipped(hint), "hints", to_model=True)
        case Suspended(waits_for=waits_for, message=message):
            return Item("rest", entry.seq, clipped(message), f"waits for {waits_for}")
        case Failed(code=code, message=message):
            return Item("failed", entry.seq, clipped(message), code)
        case Resumed():
            return Item("resumed", entry.seq, Clipped(""))
        case Finalized():
            return Item("receipt", entry.seq, Clipped(""), "the receipt was written")
    return None


def _turn(seq: int, turn: AssistantTurn) -> Item:
    thinking = "\n".join(block.text for block in turn.blocks if isinstance(block, Reasoning) and block.text)
    foreign = sum(isinstance(block, Foreign) for block in turn.blocks)
    title = f"{turn.model}, ended: {turn.finish}" + (f", {foreign} items of the provider's own" if foreign else "")
    calls = [_call(seq, block) for block in turn.blocks if isinstance(block, Call)]
    return Item("model", seq, clipped(text_of(turn.blocks)), title, clipped(thinking) if thinking else None, calls)


def _call(seq: int, call: Call) -> Spoken:
    return Spoken(call.id, call.name, clipped(_pretty(call.arguments)), seq)


def _pretty(arguments: str) -> str:
    """Indented where it is JSON; else as the model sent it."""
    try:
        return orjson.dumps(orjson.loads(arguments), option=orjson.OPT_INDENT_2).decode()
    except ValueError:
        return arguments


def _follow(entry: Entry, calls: dict[str, Spoken]) -> None:
    """What becomes of a call that was asked for before."""
    match entry.record:
        case ToolIntent(call=id_) if id_ in calls:
            calls[id_].intent = entry.seq
        case ApprovalAsked(call=id_) if id_ in calls:
            calls[id_].approval = f"waits for a person since record {entry.seq}"
        case Approval(call=id_, granted=granted, reason=reason) if id_ in calls:
            said = "approved" if granted else "refused"
            calls[id_].approval = f"{said} by a person in record {entry.seq}" + (f": {reason}" if reason else "")
        case ToolResult(call=id_) as result if id_ in calls:
            shown = [image for image in result.images if _showable(image)]
            call = calls[id_]
            call.result, call.status, call.took = entry.seq, str(result.status), lasting(result.duration)
            call.output = clipped(result.output)
            call.facts = _facts(result.metadata)
            call.pictures = tuple(f"data:{image.media_type};base64,{image.data}" for image in shown)
            call.left_out = len(result.images) - len(shown)


def _showable(image: Image) -> bool:
    return image.media_type in SHOWABLE and len(image.data) <= LARGEST


def _facts(metadata: Metadata) -> tuple[tuple[str, str], ...]:
    return tuple((key, _plain(value)) for key, value in metadata.items() if value is not None)


def _plain(value: JSON) -> str:
    said = value if isinstance(value, str) else orjson.dumps(value).decode()
    return said if len(said) <= 300 else said[:299] + "…"
