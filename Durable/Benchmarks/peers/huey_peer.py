"""huey: tasks on SQLite with synchronous = FULL, 16 threads. A task leaves the database before it runs."""

import logging
import sys

from huey import SqliteHuey

from measure import Runs, TASKS, add_from_threads, arguments, report, rows

path, scale = arguments()
if not {1, 3} & rows():
    sys.exit()
runs = Runs(4_000 // scale)
adds = SqliteHuey("adds", filename=path, fsync=True, timeout=60)
queue = SqliteHuey("runs", filename=path, fsync=True, timeout=60)
logging.disable()


@adds.task()
def never():
    pass


@queue.task()
def nothing():
    runs.add()


report("huey", "sqlite", 1, *add_from_threads(never, 4_000 // scale))
for _ in range(runs.count):
    nothing()
consumer = queue.create_consumer(workers=TASKS, worker_type="thread", periodic=False)
consumer.start()
if not runs.done.wait(120):
    sys.exit("the tasks did not run")
consumer.stop(graceful=True)
report("huey", "sqlite", 3, runs.count, runs.seconds)
