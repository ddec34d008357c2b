"""Random draws of the native half, bit for bit: so a clustering by workers has the starts of one process.

```text
key         = 8 words that a seed gives by PCG                                O'Neill 2014, HMC-CS-2014-0905
words       = ChaCha of 8 rounds under the key: block 0, block 1, …           Bernstein 2008, cr.yp.to/chacha.html
below(n)    = ⌊word · n / 2^32⌋, one more if the next word carries into it    Canon's method, biased by 2^-64 at most
by_weight   = the first s of which w_0 + … + w_s exceeds u · Σ w,  u of 52 bits in [0, 1)
```
"""

from __future__ import annotations

from itertools import count
from typing import Iterator

import numpy as np
from numpy.typing import NDArray

_WORD, _TWO_WORDS = (1 << 32) - 1, (1 << 64) - 1
#: "expand 32-byte k"
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)


def _key(seed: int) -> list[int]:
    """Eight words."""
    words = []
    for _ in range(8):
        seed = (seed * 6364136223846793005 + 11634580027462260723) & _TWO_WORDS
        mixed, turn = ((seed >> 18 ^ seed) >> 27) & _WORD, seed >> 59
        words.append((mixed >> turn | mixed << (-turn & 31)) & _WORD)
    return words


def _turned(words: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return words << np.uint32(bits) | words >> np.uint32(32 - bits)


def _words(seed: int) -> Iterator[int]:
    """The words of all blocks."""
    key = _key(seed)
    for block in count():
        own = [*_CONSTANTS, *key, block & _WORD, block >> 32, 0, 0]
        start = np.array(own, dtype=np.uint32).reshape(4, 4)
        a, b, c, d = start
        for half in range(8):
            # Of the four columns at once; every other time of the diagonals.
            a = a + b
            d = _turned(d ^ a, 16)
            c = c + d
            b = _turned(b ^ c, 12)
            a = a + b
            d = _turned(d ^ a, 8)
            c = c + d
            b = _turned(b ^ c, 7)
            by = 1 if half % 2 else -1
            b, c, d = np.roll(b, by), np.roll(c, 2 * by), np.roll(d, 3 * by)
        yield from (start + np.stack([a, b, c, d])).ravel().tolist()


class Draws:
    """Draws from a seed of at most 64 bits, one after the other."""

    def __init__(self, seed: int) -> None:
        self._words = _words(seed)

    def _bits(self, bits: int) -> int:
        """A number of 32 bits, or of 64: the low word first."""
        low = next(self._words)
        return low if bits == 32 else next(self._words) << 32 | low

    def below(self, count: int) -> int:
        """A whole number from 0, less than `count`, each as likely."""
        bits = 32 if count <= 1 << 32 else 64
        found, rest = divmod(self._bits(bits) * count, 1 << bits)
        if rest > (1 << bits) - count:
            found += (rest + (self._bits(bits) * count >> bits)) >> bits
        return found

    def by_weight(self, weights: NDArray[np.float64]) -> int:
        """An index, with a probability in proportion to its weight. The sum of the weights is finite, and not 0."""
        sums = np.add.accumulate(weights)
        point = (self._bits(64) >> 12) * 2.0**-52 * float(sums[-1])
        return int(np.searchsorted(sums[:-1], point, side="right"))
