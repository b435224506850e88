"""procrastinate: async tasks on PostgreSQL, one worker with a concurrency of 16."""

import asyncio
import logging

import procrastinate

from measure import Runs, TASKS, add_from_tasks, arguments, report

url, scale = arguments()
runs = Runs(2_000 // scale)
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=TASKS, max_size=TASKS))
logging.disable()


@app.task(queue="adds")
async def never():
    pass


@app.task(queue="runs")
async def nothing():
    runs.add()


async def main():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        report("procrastinate", "postgresql", 1, *await add_from_tasks(never.defer_async, 4_000 // scale))
        await nothing.batch_defer_async(*({} for _ in range(runs.count)))
        await app.run_worker_async(
            queues=["runs"], wait=False, concurrency=TASKS, install_signal_handlers=False)
        report("procrastinate", "postgresql", 3, runs.count, runs.seconds)


asyncio.run(main())
