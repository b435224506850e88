#!/bin/sh
# persist-queue 1.1.0 (PyPI): a `UniqueAckQ` drops an item that was put, processed and acknowledged before, without an error.
#
# The queue keeps an acknowledged item in its table, and the item is unique in the table, not among the waiting items. So the second
# `put` of an equal item returns None, nothing is queued, and `get` finds nothing. `clear_acked_data()` with its defaults does not
# help, because it keeps the latest 1,000 items. An item that failed for good blocks its equals, too. `UniqueQ`, the class
# without acknowledgments, accepts an item again as soon as `get` has returned it.
#
# Seen on 2026-11-29, Python 3.11:
#     UniqueQ: size after put, get, put: 1
#     UniqueAckQ: size after put, get, ack, put: 0
#     after clear_acked_data() and put: 0
#     after clear_acked_data(keep_latest=0) and put: 1
#     UniqueAckQ: size after put, get, ack_failed, put: 0
#
# Here: rule R4 of Durable, a unique key holds while the operation is unfinished or for a period; AddingTests of Durable.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q persist-queue==1.1.0 > log 2>&1 ||
    { tail -n 3 log; echo 'persist-queue 1.1.0 cannot be installed'; exit 2; }
cat > show.py << 'END'
from persistqueue import UniqueAckQ, UniqueQ

queue = UniqueQ("plain")
queue.put("invoice 7")
queue.get()
queue.put("invoice 7")
print("UniqueQ: size after put, get, put:", queue.size)

queue = UniqueAckQ("acknowledged")
queue.put("invoice 7")
queue.ack(queue.get())
queue.put("invoice 7")
print("UniqueAckQ: size after put, get, ack, put:", queue.size)
queue.clear_acked_data()
queue.put("invoice 7")
print("after clear_acked_data() and put:", queue.size)
queue.clear_acked_data(keep_latest=0)
queue.put("invoice 7")
print("after clear_acked_data(keep_latest=0) and put:", queue.size)

queue = UniqueAckQ("failed")
queue.put("invoice 7")
queue.ack_failed(queue.get())
queue.put("invoice 7")
print("UniqueAckQ: size after put, get, ack_failed, put:", queue.size)
END
environment/bin/python show.py | tee seen
cat > expected << 'END'
UniqueQ: size after put, get, put: 1
UniqueAckQ: size after put, get, ack, put: 0
after clear_acked_data() and put: 0
after clear_acked_data(keep_latest=0) and put: 1
UniqueAckQ: size after put, get, ack_failed, put: 0
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
