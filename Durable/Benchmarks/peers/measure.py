"""The measurements that the programs of all peers share."""

import json
import sys
import threading
import time

TASKS = 16
# The longest time for the additions of one measurement. A slow peer adds fewer operations.
LONGEST = 10


def report(peer, database, row, count, seconds):
    """Prints one measurement as a line of JSON."""
    line = {"peer": peer, "database": database, "row": row, "count": count, "rate": round(count / seconds, 1)}
    print(json.dumps(line), flush=True)


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


async def add_from_tasks(add, count):
    """Awaits `add` in 16 tasks. Returns the number of calls, and the seconds."""
    import asyncio

    start, done = time.perf_counter(), [0] * TASKS

    async def work(task):
        while done[task] < count // TASKS and time.perf_counter() - start < LONGEST:
            await add()
            done[task] += 1

    await asyncio.gather(*(work(task) for task in range(TASKS)))
    return sum(done), time.perf_counter() - start


def arguments():
    """Returns the address of the database and the divisor of all sizes."""
    return sys.argv[1], int(sys.argv[2])
