"""pgqueuer: async entrypoints on PostgreSQL, jobs in batches of 16."""

import asyncio
import logging

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.domain.types import QueueExecutionMode
from pgqueuer.queries import Queries

from measure import Runs, TASKS, add_from_tasks, arguments, report, rows

url, scale = arguments()
rows = rows()
logging.disable()


async def run(driver, queries, name, count, snapshot=None):
    """Runs jobs that do nothing, beside an idle snapshot if there is a connection for one."""
    runs = Runs(count)
    for start in range(0, count, 10_000):
        part = min(10_000, count - start)
        await queries.enqueue([name] * part, [None] * part, [0] * part)
    if snapshot:
        await snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pgqueuer")
    worker = PgQueuer(driver)

    @worker.entrypoint(name)
    async def nothing(job):
        runs.add()

    await worker.qm.run(batch_size=TASKS, mode=QueueExecutionMode.drain)
    return runs


async def main():
    async with asyncpg.create_pool(url, min_size=TASKS, max_size=TASKS) as pool:
        driver = AsyncpgPoolDriver(pool)
        queries = Queries(driver)
        await queries.install()
        add = lambda: queries.enqueue("never", None)
        if 1 in rows:
            report("pgqueuer", "postgresql", 1, *await add_from_tasks(add, 10_000 // scale))
        if 11 in rows:
            report("pgqueuer", "postgresql", 11, *await add_from_tasks(add, 5_000 // scale, tasks=1))
        if 3 in rows:
            runs = await run(driver, queries, "nothing", 10_000 // scale)
            report("pgqueuer", "postgresql", 3, runs.count, runs.seconds)
        if 13 in rows:
            connection = await asyncpg.connect(url)
            (await run(driver, queries, "beside", 100_000 // scale, connection)).report_decay("pgqueuer", "postgresql")


asyncio.run(main())
