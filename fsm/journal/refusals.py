"""The plain words of a store's refusals, the same whichever store it is."""

from states.errors import ConfigError, Fenced, SessionBusy, UnknownSession, Unsealed
from states.ports import Claim


def check_name(session: str) -> None:
    """A new session's name must be text that is not empty and that UTF-8 can hold. Raises ConfigError."""
    if not session or not storable(session):
        raise ConfigError(f"session: {session!r} cannot be a session's name; use text that is not empty")


def storable(session: str) -> bool:
    """UTF-8 can hold it: a name that it cannot hold was never given to a session."""
    try:
        session.encode()
    except UnicodeEncodeError:
        return False
    return True


def unknown(session: str, where: str) -> UnknownSession:
    return UnknownSession(f"there is no session {session!r} in {where}")


def busy(session: str, owner: str) -> SessionBusy:
    return SessionBusy(f"session {session!r} is being run by {owner}. Wait for it, cancel it, or stop that process.")


def fenced(claim: Claim, why: str) -> Fenced:
    return Fenced(f"session {claim.session!r}: claim {claim.fence} no longer counts: {why}. Nothing was written.")


def overtaken(claim: Claim, fence: int, next_seq: int) -> Fenced:
    """The store's state against the claim's, in words."""
    if fence != claim.fence:
        return fenced(claim, f"claim {fence} is newer")
    return fenced(claim, f"the next entry is {next_seq}, and that is not where the batch begins or how it goes on")


def unsealed(claim: Claim, seals: int) -> Unsealed:
    return Unsealed(f"session {claim.session!r}: an input numbered above {seals} is there. Nothing was written.")


def taken(session: str) -> ConfigError:
    return ConfigError(f"there is a session {session!r} already; choose another name (`--name NAME`, `name=`)")


def other_words(session: str, identity: str) -> ConfigError:
    return ConfigError(f"session {session!r} has a follow-up {identity!r} with other words; give this one its own id")
