#!/bin/sh
# toposort 1.10 (PyPI): an item that depends on itself is no cycle. It comes out as if it had no dependency.
#
# Two items that depend on each other raise CircularDependencyError, so a caller takes the function for a check of the graph. But the
# function removes self-dependencies before it looks, and reports none. The description of the package does not say so. A rule that
# needs its own result, by a wrong name for example, is run as the first one.
#
# Seen on 2026-11-30, Python 3.11:
#     two items: CircularDependencyError
#     one item: [{'report'}, {'mail'}]
#
# Here: an operation that depends on itself is an error, in the library and in a workflow; MisuseTwinSteeringTests, ReferenceTests of opq.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q toposort==1.10 > log 2>&1 ||
    { tail -n 3 log; echo 'toposort 1.10 cannot be installed'; exit 2; }
cat > show.py << 'END'
from toposort import CircularDependencyError, toposort

try:
    print("two items:", list(toposort({"report": {"mail"}, "mail": {"report"}})))
except CircularDependencyError as error:
    print("two items:", type(error).__name__)
print("one item:", list(toposort({"report": {"report"}, "mail": {"report"}})))
END
environment/bin/python show.py | tee seen
cat > expected << 'END'
two items: CircularDependencyError
one item: [{'report'}, {'mail'}]
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
