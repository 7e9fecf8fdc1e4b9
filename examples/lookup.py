"""Twenty lines that run anywhere: a tool, a loop, a receipt. The model is a script; swap it for a real one."""

from fsm import Budget, Loop, tool
from fsm.providers import Scripted
from fsm.providers.scripted import asks_for, says

STOCK = {"bolt M6": 40, "nut M6": 0}


@tool(read_only=True, concurrency_safe=True)
async def stock(item: str) -> int:
    """How many pieces of an item are on the shelf."""
    return STOCK[item]


model = Scripted([asks_for(("stock", {"item": "bolt M6"}), ("stock", {"item": "nut M6"})), says("40 bolts, no nuts.")])
loop = Loop(provider=model, tools=[stock], journal=":memory:", budget=Budget(max_turns=10))
result = loop.run_sync("How many M6 bolts and nuts are there?")
print(result.status, result.reason, result.text)
print("rests on records", result.receipt.verdicts if result.receipt else None)
