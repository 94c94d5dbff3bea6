"""Cache of the planner's answers: the least recently used is dropped first."""

from collections import OrderedDict

from api.console.planner.questions import Calculation


class AnswerCache:
    """Answers by calculation, at most `size` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Calculation, bytes] = OrderedDict()

    def get(self, asked: Calculation) -> bytes | None:
        """Return the answer if it is cached."""
        if asked in self._answers:
            self._answers.move_to_end(asked)
        return self._answers.get(asked)

    def put(self, asked: Calculation, answer: bytes) -> None:
        """Cache an answer, and drop the least recently used ones above the size."""
        self._answers[asked] = answer
        while len(self._answers) > self._size:
            self._answers.popitem(last=False)
