"""The metric files of several processes."""

from __future__ import annotations

import resource
import signal
import threading
from pathlib import Path

import pytest

from tidings.metrics.multiprocess import FILE_SIZE, MetricFiles, SampleKey, sum_of_all

KEY = SampleKey("counter", "tidings_things", "Things.", (("kind", "big"),))


def add(files: MetricFiles, amount: float, key: SampleKey = KEY) -> None:
    files.values[files.index(key)] += amount


def test_each_process_has_its_own_file_and_its_successor_continues_it(tmp_path: Path) -> None:
    first, second = MetricFiles(tmp_path), MetricFiles(tmp_path)
    assert {first.number, second.number} == {1, 2}
    add(first, 7)
    add(second, 10)
    first.close()

    third = MetricFiles(tmp_path)
    add(third, 1)

    assert third.number == 1
    assert sum_of_all(tmp_path) == {KEY: 18}
    second.close()
    third.close()


def test_the_first_process_deletes_files_of_an_earlier_run(tmp_path: Path) -> None:
    first = MetricFiles(tmp_path)
    add(first, 7)
    first.close()

    second = MetricFiles(tmp_path)

    assert sum_of_all(tmp_path) == {}
    second.close()


def test_a_name_that_its_writer_did_not_finish_is_ignored_and_written_again(tmp_path: Path) -> None:
    first, other = MetricFiles(tmp_path), MetricFiles(tmp_path)
    add(first, 7)
    first.close()
    with (tmp_path / "names-1.jsonl").open("ab") as file:
        file.write(b'["counter","tidings_th')
    assert sum_of_all(tmp_path) == {KEY: 7}

    successor = MetricFiles(tmp_path)
    add(successor, 1, SampleKey("counter", "tidings_others", "Others."))

    assert list(sum_of_all(tmp_path).values()) == [7, 1]
    successor.close()
    other.close()


@pytest.mark.slow
def test_a_reader_finds_every_value_while_a_process_takes_over_the_files(tmp_path: Path) -> None:
    other = MetricFiles(tmp_path)
    first = MetricFiles(tmp_path)
    for number in range(2_000):
        add(first, 1, SampleKey("counter", f"tidings_{number}", "Things."))
    first.close()
    seen: set[int] = set()
    done = threading.Event()

    def look() -> None:
        over = False
        while not over:
            over = done.is_set()
            seen.add(len(sum_of_all(tmp_path)))

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(20):
        MetricFiles(tmp_path).close()
    done.set()
    reader.join()
    other.close()

    assert seen == {2_000}


@pytest.mark.slow
def test_a_full_file_takes_no_further_value_and_loses_none(tmp_path: Path) -> None:
    files = MetricFiles(tmp_path)
    add(files, 1)
    for number in range(2, len(files.values)):
        files.index(SampleKey("counter", f"tidings_{number}", "Things."))
    before = sum_of_all(tmp_path)

    add(files, 5, SampleKey("counter", "tidings_more", "Things."))

    assert sum_of_all(tmp_path) == before
    files.close()


def test_a_name_that_a_full_disk_does_not_take_leaves_nothing_behind(tmp_path: Path) -> None:
    files = MetricFiles(tmp_path)
    add(files, 1)
    size = (tmp_path / "names-1.jsonl").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, limits[1]))
    try:
        add(files, 5, SampleKey("counter", "tidings_more", "Things."))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sum_of_all(tmp_path) == {KEY: 1}

    add(files, 2, SampleKey("counter", "tidings_more", "Things."))

    assert list(sum_of_all(tmp_path).values()) == [1, 2]
    files.close()


def test_a_file_is_created_atomically(tmp_path: Path) -> None:
    """A reader never finds a file of values that is not whole."""
    seen: set[int] = set()
    done = threading.Event()

    def look() -> None:
        over = False
        while not over:
            over = done.is_set()
            seen.update(path.stat().st_size for path in tmp_path.glob("*.db"))

    reader = threading.Thread(target=look)
    reader.start()
    processes = [MetricFiles(tmp_path) for _ in range(30)]
    done.set()
    reader.join()
    for files in processes:
        files.close()

    assert seen == {FILE_SIZE}
    assert len(list(tmp_path.glob("*.db"))) == 30
