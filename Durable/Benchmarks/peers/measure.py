"""The measurements that the programs of all peers share."""

import json
import sys
import threading
import time

TASKS = 16
# The longest time for the additions of one measurement. A slow peer adds fewer operations.
LONGEST = 10


def report(peer, database, row, count, seconds, detail="", of=None):
    """Prints one measurement as a line of JSON. `of` is the size of the row, if the count is a part of it."""
    line = {"peer": peer, "database": database, "row": row, "count": of or count, "rate": round(count / seconds, 1)}
    print(json.dumps({**line, "detail": detail} if detail else line), flush=True)


class Runs:
    """The times of the runs of operations that do nothing, from the first start to the last start."""

    def __init__(self, count):
        self.count, self.times, self.lock, self.done = count, [], threading.Lock(), threading.Event()

    def add(self):
        with self.lock:
            self.times.append(time.perf_counter())
            if len(self.times) == self.count:
                self.done.set()

    @property
    def seconds(self):
        return self.times[-1] - self.times[0]

    def report_decay(self, peer, database):
        """Prints the rates of the first and of the last tenth."""
        tenth = self.count // 10
        report(peer, database, 13, tenth, self.times[tenth] - self.times[0], "first tenth", self.count)
        report(peer, database, 13, tenth, self.times[-1] - self.times[-1 - tenth], "last tenth", self.count)


def add_from_threads(add, count):
    """Calls `add` from 16 threads. Returns the number of calls, and the seconds."""
    start, done = time.perf_counter(), [0] * TASKS

    def work(task):
        while done[task] < count // TASKS and time.perf_counter() - start < LONGEST:
            add()
            done[task] += 1

    threads = [threading.Thread(target=work, args=(task,)) for task in range(TASKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done), time.perf_counter() - start


async def add_from_tasks(add, count, tasks=TASKS):
    """Awaits `add` in tasks. Returns the number of calls, and the seconds."""
    import asyncio

    start, done = time.perf_counter(), [0] * tasks

    async def work(task):
        while done[task] < count // tasks and time.perf_counter() - start < LONGEST:
            await add()
            done[task] += 1

    await asyncio.gather(*(work(task) for task in range(tasks)))
    return sum(done), time.perf_counter() - start


def arguments():
    """Returns the address of the database and the divisor of all sizes."""
    return sys.argv[1], int(sys.argv[2])


def rows():
    """Returns the numbers of the rows to measure."""
    parts = [part.split("-") for part in sys.argv[3].split(",")]
    return {row for part in parts for row in range(int(part[0]), int(part[-1]) + 1)}
