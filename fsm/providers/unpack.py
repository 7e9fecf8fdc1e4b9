"""A compressed body in pieces of bounded size. We ask for none; some proxies compress all the same.

httpx unpacks a whole piece from the network at once, and as many layers as the header names: a thousandfold, a
millionfold. Here one layer is unpacked, a little at a time, so that whoever counts bytes can stop in time.
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, nullcontext
from typing import Final

from states.records import Trouble

from .faults import Fault

PLAIN: Final = frozenset({"", "identity"})
WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
"""By `content-encoding`, what zlib calls window bits."""
PIECE: Final = 64 * 1024
"""Bytes of an unpacked piece (our choice: what a network read brings at most)."""


async def unpacked(pieces: AsyncIterable[bytes], encoding: str) -> AsyncGenerator[bytes]:
    """The pieces, unpacked. Raises Fault for an encoding that is not unpacked, and for a body that is damaged."""
    name = encoding.strip().lower()
    if name in PLAIN:
        inner = None
    elif name in WINDOWS:
        inner = zlib.decompressobj(WINDOWS[name])
    else:
        raise Fault(Trouble.REFUSED, f"the body is packed as {name[:40]!r}, though it was asked for unpacked")
    async with aclosing(pieces) if isinstance(pieces, AsyncGenerator) else nullcontext():
        async for piece in pieces:
            if inner is None:
                yield piece
                continue
            rest = piece
            while rest:
                try:
                    plain = inner.decompress(rest, PIECE)
                except zlib.error as error:
                    raise Fault(None, f"the packed body is damaged: {error}") from None
                rest = inner.unconsumed_tail
                if plain:
                    yield plain
