"""Books payments in double entry. A run is done only when the books balance, on the workspace as it is left."""

from .agent import GRAPH, make_loop
from .ledger import Ledger

__all__ = ["GRAPH", "Ledger", "make_loop"]
