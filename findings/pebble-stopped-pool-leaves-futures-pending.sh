#!/bin/sh
# Pebble 5.2.3 (PyPI): after `stop()` and `join()` of a `ThreadPool`, the futures of tasks that had not started stay pending.
#
# `stop()` ends the pool "without performing any pending task". The threads end, and `join()` returns. But the pool neither cancels
# these futures nor gives them an error. They are not done, their callbacks do not run, and a `result()` without a time limit does
# not return. A caller has to cancel the futures itself. `ThreadPoolExecutor.shutdown(cancel_futures=True)` of Python cancels them.
#
# Seen on 2026-11-29, Python 3.11:
#     pool is active: False
#     running at the stop: done True, result 1
#     waiting at the stop: done False, cancelled False, callbacks 0
#     waiting, after cancel(): done True, cancelled True, callbacks 1
#     of Python's pool: done True, cancelled True
#
# Here: an operation that is cancelled before its start ends, and its value throws; AsyncCancellationTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q Pebble==5.2.3 > log 2>&1 ||
    { tail -n 3 log; echo 'Pebble 5.2.3 cannot be installed'; exit 2; }
cat > show.py << 'END'
import threading
from concurrent.futures import ThreadPoolExecutor

from pebble import ThreadPool

begun, may_end, callbacks = threading.Event(), threading.Event(), []


def first():
    begun.set()
    may_end.wait()
    return 1


pool = ThreadPool(max_workers=1)
running, waiting = pool.schedule(first), pool.schedule(int)
waiting.add_done_callback(callbacks.append)
begun.wait()
pool.stop()
may_end.set()
pool.join()
print("pool is active:", pool.active)
print(f"running at the stop: done {running.done()}, result {running.result(timeout=10)}")
print(f"waiting at the stop: done {waiting.done()}, cancelled {waiting.cancelled()}, callbacks {len(callbacks)}")
waiting.cancel()
print(f"waiting, after cancel(): done {waiting.done()}, cancelled {waiting.cancelled()}, callbacks {len(callbacks)}")

begun.clear()
may_end.clear()
executor = ThreadPoolExecutor(max_workers=1)
running, waiting = executor.submit(first), executor.submit(int)
begun.wait()
executor.shutdown(wait=False, cancel_futures=True)
may_end.set()
executor.shutdown()
print(f"of Python's pool: done {waiting.done()}, cancelled {waiting.cancelled()}")
END
timeout 60 environment/bin/python show.py | tee seen
cat > expected << 'END'
pool is active: False
running at the stop: done True, result 1
waiting at the stop: done False, cancelled False, callbacks 0
waiting, after cancel(): done True, cancelled True, callbacks 1
of Python's pool: done True, cancelled True
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
