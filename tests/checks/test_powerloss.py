"""Power cuts of a real run of a real loop, as users get them; the images themselves are tested beside the journal."""

import pytest

from fsm.checks import Broken, powerloss
from fsm.loop import Loop


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(powerloss, "TURNS", 1)


def test_nothing_acknowledged_is_lost_and_all_of_it_is_justified(tmp_path, short):
    cut = powerloss.sweep(Loop, tmp_path / "power")

    assert cut.images > 50
    assert cut.commits >= 3
    assert "nothing acknowledged was lost" in str(cut)


def test_a_store_that_does_not_sync_is_found(tmp_path, short, monkeypatch):
    changes = powerloss.watched

    def deaf(hook):
        return changes(lambda change: None if change.kind == "sync" and change.name.endswith("-wal") else hook(change))

    monkeypatch.setattr(powerloss, "watched", deaf)

    with pytest.raises(Broken, match=r"powerloss: image \d+, after \d+ acknowledged records"):
        powerloss.sweep(Loop, tmp_path / "power")


def test_a_claim_of_ones_own_is_held_against_every_image(tmp_path, short, monkeypatch):
    monkeypatch.setattr(powerloss, "STRIDE", 1)

    def nothing_begins(before, move, now):
        return "it began" if now.started else None

    with pytest.raises(Broken, match="nothing_begins: it began"):
        powerloss.sweep(Loop, tmp_path / "power", claims=(nothing_begins,))
