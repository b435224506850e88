"""pgqueuer: async entrypoints on PostgreSQL, jobs in batches of 16."""

import asyncio
import logging

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.domain.types import QueueExecutionMode
from pgqueuer.queries import Queries

from measure import Runs, TASKS, add_from_tasks, arguments, report

url, scale = arguments()
runs = Runs(10_000 // scale)
logging.disable()


async def main():
    async with asyncpg.create_pool(url, min_size=TASKS, max_size=TASKS) as pool:
        driver = AsyncpgPoolDriver(pool)
        queries = Queries(driver)
        await queries.install()
        report("pgqueuer", "postgresql", 1, *await add_from_tasks(lambda: queries.enqueue("never", None), 10_000 // scale))
        await queries.enqueue(["nothing"] * runs.count, [None] * runs.count, [0] * runs.count)
        worker = PgQueuer(driver)

        @worker.entrypoint("nothing")
        async def nothing(job):
            runs.add()

        await worker.qm.run(batch_size=TASKS, mode=QueueExecutionMode.drain)
        report("pgqueuer", "postgresql", 3, runs.count, runs.seconds)


asyncio.run(main())
