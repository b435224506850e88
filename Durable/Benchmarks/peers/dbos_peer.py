"""DBOS: workflows without a step, through a queue that is polled each 10 ms. The default is one second."""

import sys

from dbos import DBOS, DBOSConfig

from measure import Runs, TASKS, add_from_threads, arguments, report, rows

url, scale = arguments()
if not {1, 3} & rows():
    sys.exit()
database = "sqlite" if url.startswith("sqlite") else "postgresql"
runs = Runs(max(64, 640 // scale))
config: DBOSConfig = {"name": "peer", "system_database_url": url, "log_level": "ERROR"}
DBOS(config=config)


@DBOS.workflow()
def nothing():
    runs.add()


@DBOS.workflow()
def never():
    pass


DBOS.launch()
# The queue "adds" is not registered, so that its workflows do not run.
report("dbos", database, 1, *add_from_threads(lambda: DBOS.enqueue_workflow("adds", never), 2_000 // scale))
for _ in range(runs.count):
    DBOS.enqueue_workflow("runs", nothing)
DBOS.register_queue("runs", worker_concurrency=TASKS, polling_interval_sec=0.01)
if not runs.done.wait(120):
    sys.exit("the workflows did not run")
report("dbos", database, 3, runs.count, runs.seconds)
DBOS.destroy()
