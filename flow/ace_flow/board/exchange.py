# SPDX-License-Identifier: Apache-2.0
"""Many frames under way at a time, over a wire that loses and breaks some, and a board that may forget everything."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ace_flow.board.host import (
    DATA,
    NO_SESSION,
    REFUSED,
    SHORT,
    STALE,
    Host,
    LinkError,
    Response,
    segments,
    tag_of,
)
from ace_flow.board.wire import MICROSECOND

# Of a frame's words in the queue; a host fills no more of the queue than this part of it.
HEAD_WORDS, PART = 3, 0.75
# Before what was not answered is sent again.
PATIENCE = 120 * MICROSECOND
TRIES = 200


@dataclass
class Waiting:
    """A frame that is not answered."""

    index: int
    frame: bytes
    due: int = 0
    tries: int = 0

    @property
    def words(self) -> int:
        return len(self.frame) // 8 + HEAD_WORDS * sum(1 for _ in segments(self.frame))


@dataclass
class Exchange:
    """Frames of one slot that may be repeated, with tags of their own while they are under way."""

    host: Host
    room: int  # words of the board's queue
    slot: int = 0
    # What a board that has forgotten is told.
    prepare: Callable[[Host], None] | None = None
    forgotten: int = 0
    unknown: int = 0  # answers to what is not under way: a second one to a frame that was sent twice
    under_way: dict[int, Waiting] = field(default_factory=dict)

    def run(self, frames: Iterable[bytes]) -> dict[int, Response]:
        """The response to each frame, by its index."""
        left = deque(Waiting(index, frame) for index, frame in enumerate(frames))
        done: dict[int, Response] = {}
        while left or self.under_way:
            self._fill(left)
            message = self.host.receive(self._pause())
            if message is None:
                continue
            if (message.kind == REFUSED and message.beats[0] == NO_SESSION) or message.kind == STALE:
                self._anew(left)
                continue
            answer = self.host.answered(message)
            if answer is None or answer[0] != self.slot:
                continue
            response = answer[1]
            waiting = self.under_way.get(response.tag)
            if waiting is None:
                self.unknown += 1
            elif response.status == SHORT:
                waiting.due = 0
            else:
                done[waiting.index] = response
                del self.under_way[response.tag]
        return done

    def _pause(self) -> int:
        due = min((w.due for w in self.under_way.values()), default=0)
        return max(due - self.host.wire.now, MICROSECOND)

    def _fill(self, left: deque[Waiting]) -> None:
        """What is due again, and as many new ones as the queue has room for."""
        now = self.host.wire.now
        for waiting in self.under_way.values():
            if waiting.due <= now:
                self._send(waiting)
        while left:
            used = sum(waiting.words for waiting in self.under_way.values())
            tag = tag_of(left[0].frame)
            if tag in self.under_way or (self.under_way and used + left[0].words > PART * self.room):
                break
            self.under_way[tag] = left.popleft()
            self._send(self.under_way[tag])

    def _send(self, waiting: Waiting) -> None:
        if waiting.tries == TRIES:
            raise LinkError(f"a frame with tag {tag_of(waiting.frame):04x}h is not answered")
        self.host.resent += waiting.tries > 0
        waiting.tries += 1
        # Frames in front of it take their time.
        waiting.due = self.host.wire.now + PATIENCE + self.host.wire.waiting() * 13 * MICROSECOND
        self.host.put(DATA, waiting.frame, self.slot)

    def _anew(self, left: deque[Waiting]) -> None:
        """The board knows nothing: it is told, and all that was under way is sent again."""
        self.forgotten += 1
        # What the wire still has to bring is of no use, and tells the same again.
        while self.host.receive(PATIENCE) is not None:
            pass
        self.host.hello()
        if self.prepare is not None:
            self.prepare(self.host)
        for waiting in self.under_way.values():
            waiting.due = 0
