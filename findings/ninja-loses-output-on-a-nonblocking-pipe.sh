#!/bin/sh
# ninja 1.13.0 (PyPI): with a nonblocking pipe as standard output, most of the output is lost, and the status is 0.
#
# A parent such as Node.js or another event loop may give its child a pipe that does not block. A pipe holds 64 KiB. Of an edge
# that prints more, ninja writes the beginning only, and does not report the rest. The build succeeds, and the end of its log
# is missing. With a blocking pipe nothing is lost.
#
# Seen on 2026-11-30, also with ninja 1.11.1.1:
#     blocking: status 0, 1288912 bytes
#     nonblocking: status 0, less than a tenth, nothing on standard error
#
# Here: opq waits until the pipe has room; opq/Sources/opq/StandardStreams.swift.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q ninja==1.13.0 > log 2>&1 ||
    { tail -n 3 log; echo 'ninja 1.13.0 cannot be installed'; exit 2; }
cat > build.ninja << 'END'
rule print
  command = seq 200000
build numbers: print
END
cat > show.py << 'END'
import os
import subprocess


def run(blocks):
    reader, writer = os.pipe()
    os.set_blocking(writer, blocks)
    process = subprocess.Popen(["environment/bin/ninja"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    if not blocks:
        process.wait()  # The reader is late: it begins when ninja has ended.
    count = 0
    while chunk := os.read(reader, 65536):
        count += len(chunk)
    errors = process.communicate()[1]
    return process.returncode, count, errors


status, whole, _ = run(True)
print(f"blocking: status {status}, {whole} bytes")
status, count, errors = run(False)
share = "less than a tenth" if count < whole / 10 else "more than a tenth"
print(f"nonblocking: status {status}, {share}, {'nothing' if not errors else 'text'} on standard error")
END
timeout 60 python3 show.py | tee seen
cat > expected << 'END'
blocking: status 0, 1288912 bytes
nonblocking: status 0, less than a tenth, nothing on standard error
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
