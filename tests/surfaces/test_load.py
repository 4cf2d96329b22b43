"""The load of a process: when it is crowded, and when it sends a client to another one."""

from __future__ import annotations

from tidings.http.load import ASK_AFTER_S, CROWDED, MOVE_EVERY_S, MOVE_FROM, WINDOW_S, LoadBoard, ProcessLoad


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Process:
    """The load of a process with a clock, on a board for two."""

    def __init__(self, board: LoadBoard | None = None, number: int = 0) -> None:
        self.clock = Clock()
        self.board = board or LoadBoard(2)
        self.asked = 0
        self.load = ProcessLoad(self.clock)
        self.load.join(self.board, number, self.ask)

    def ask(self) -> None:
        self.asked += 1

    def handle(self, at_the_same_time: int, for_s: float) -> None:
        for _ in range(at_the_same_time):
            self.load.begin()
        self.clock.now += for_s
        for _ in range(at_the_same_time):
            self.load.end()


def test_requests_that_wait_for_each_other_all_the_time_ask_for_another_process() -> None:
    process = Process()

    for _ in range(5):
        process.handle(at_the_same_time=int(CROWDED), for_s=ASK_AFTER_S / 4)

    assert process.asked == 2


def test_one_request_after_the_other_asks_for_nothing() -> None:
    process = Process()

    for _ in range(20):
        process.handle(at_the_same_time=1, for_s=ASK_AFTER_S / 2)

    assert process.asked == 0


def test_a_page_with_its_parts_asks_for_nothing() -> None:
    process = Process()

    for _ in range(20):
        for _ in range(2):
            process.handle(at_the_same_time=6, for_s=2 * WINDOW_S)
        process.clock.now += 10 * WINDOW_S

    assert process.asked == 0


def test_a_crowded_process_sends_a_client_to_one_with_less_to_do_but_not_all_of_them() -> None:
    process = Process()
    process.board.write(1, 0, 0.0)
    process.handle(at_the_same_time=8, for_s=2 * WINDOW_S)
    for _ in range(MOVE_FROM):
        process.load.begin()

    assert process.load.moves_client()
    assert not process.load.moves_client()
    process.clock.now += 2 * MOVE_EVERY_S
    assert process.load.moves_client()
    process.load.end()
    process.clock.now += 2 * MOVE_EVERY_S
    assert not process.load.moves_client(), "the difference is small"


def test_no_client_is_sent_to_a_process_that_does_not_run_or_is_as_busy() -> None:
    process = Process()
    process.handle(at_the_same_time=8, for_s=2 * WINDOW_S)
    for _ in range(8):
        process.load.begin()

    assert not process.load.moves_client(), "the other one does not run"
    process.board.write(1, 7, 0.0)
    assert not process.load.moves_client()


def test_a_process_that_is_not_crowded_keeps_its_clients() -> None:
    process = Process()
    process.board.write(1, 0, 0.0)
    for _ in range(8):
        process.load.begin()

    assert not process.load.moves_client()


def test_the_board_shows_the_seconds_in_which_a_process_had_something_to_do() -> None:
    board = LoadBoard(2)
    process = Process(board, number=1)

    process.handle(at_the_same_time=3, for_s=2.0)
    process.clock.now += 10.0
    process.handle(at_the_same_time=1, for_s=1.0)

    assert list(board.busy_s()) == [0.0, 3.0]


def test_a_process_that_leaves_shows_nothing_and_asks_for_nothing() -> None:
    process = Process()

    process.load.leave()
    process.handle(at_the_same_time=8, for_s=ASK_AFTER_S)

    assert (process.asked, process.board.least(besides=1)) == (0, None)
