"""procrastinate: async tasks on PostgreSQL, one worker with a concurrency of 16."""

import asyncio
import logging

import procrastinate
import psycopg

from measure import Runs, TASKS, add_from_tasks, arguments, report, rows

url, scale = arguments()
rows = rows()
runs = Runs(2_000 // scale)
beside = Runs(20_000 // scale)
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=TASKS, max_size=TASKS))
logging.disable()


@app.task(queue="adds")
async def never():
    pass


@app.task(queue="runs")
async def nothing():
    runs.add()


@app.task(queue="beside")
async def nothing_beside():
    beside.add()


async def main():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        if 1 in rows:
            report("procrastinate", "postgresql", 1, *await add_from_tasks(never.defer_async, 4_000 // scale))
        if 11 in rows:
            report("procrastinate", "postgresql", 11, *await add_from_tasks(never.defer_async, 2_000 // scale, tasks=1))
        if 3 in rows:
            await nothing.batch_defer_async(*({} for _ in range(runs.count)))
            await app.run_worker_async(queues=["runs"], wait=False, concurrency=TASKS, install_signal_handlers=False)
            report("procrastinate", "postgresql", 3, runs.count, runs.seconds)
        if 13 in rows:
            await nothing_beside.batch_defer_async(*({} for _ in range(beside.count)))
            with psycopg.connect(url) as snapshot:
                snapshot.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                snapshot.execute("SELECT count(*) FROM procrastinate_jobs")
                await app.run_worker_async(queues=["beside"], wait=False, concurrency=TASKS, install_signal_handlers=False)
            beside.report_decay("procrastinate", "postgresql")


asyncio.run(main())
