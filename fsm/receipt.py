"""A receipt in words: what a success rests on."""

from collections.abc import Sequence

from states.records import Entry, Evidence, Finalized, HookOutcome, HookResult, OutputAccepted, Verdict, VerifierResult


def words(entries: Sequence[Entry], receipt: Finalized) -> list[str]:
    """A line per thing that the receipt names; numbers in brackets are the journal's."""
    by_seq = {entry.seq: entry.record for entry in entries}
    gates = [by_seq[seq] for seq in receipt.verdicts if seq in by_seq]
    lines = [f"the model's final answer, put up for judgement in record [{receipt.candidate}]"]
    for seq in receipt.evidence:
        shown = by_seq.get(seq)
        if isinstance(shown, Evidence):
            proves = f" ({', '.join(shown.kinds)})" if shown.kinds else ""
            lines.append(
                f"`{shown.command}`{proves} ended with exit status {shown.exit_status}: "
                f"result [{shown.result}], evidence [{seq}]"
            )
        if isinstance(shown, OutputAccepted):
            lines.append(f"the output that {shown.call} handed in, schema {shown.schema[:12]}: record [{seq}]")
        if isinstance(shown, HookResult):
            no_vote = shown.outcome is HookOutcome.FAILED
            did = "had no vote" if no_vote else "allowed it"
            lines.append(f"the {shown.event} hook {shown.hook} {did}: record [{seq}]")
        if isinstance(shown, VerifierResult):
            said = shown.judgement.value.upper()
            lines.append(f"a verifier says {said} ({shown.gate}), in session {shown.session}: record [{seq}]")
    if receipt.goal:
        lines.append(f"the session's goal is reached: evidence {receipt.goal[:12]}")
    if receipt.revision:
        lines.append(f"the workspace is still what was checked: revision {receipt.revision[:12]}")
    passed = ", ".join(gate.gate for gate in gates if isinstance(gate, Verdict))
    return [*lines, f"gates that passed: {passed or 'none was asked'}"]
