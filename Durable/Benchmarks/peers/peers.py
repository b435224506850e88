#!/usr/bin/env python3
"""Measures the peers from PyPI: additions from 16 tasks and from one, runs of operations that do nothing, and such runs beside an idle
snapshot of the database.

Usage: peers.py [--scale N] [--rows LIST] [--environment DIRECTORY] [PEER...]

  --scale N                 divides all sizes
  --rows LIST               the rows to measure, for example 1,3,11-13 (default: all)
  --environment DIRECTORY   the virtual environment (default: .build-peers in the package); made at the first use
  PEER                      dbos, dbos-sqlite, procrastinate, pgqueuer, huey (default: all)

Each line of the output is a JSON object: the peer, the database, the row of the cost table, the count and the rate a second.
A PostgreSQL server with its default settings runs in a temporary directory, on a Unix socket. The server does not run as root.
"""

import argparse
import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["dbos", "procrastinate", "pgqueuer[asyncpg]", "huey"]
# The program of each peer, and the database that it uses.
PEERS = {
    "dbos": ("dbos_peer.py", "postgresql"),
    "dbos-sqlite": ("dbos_peer.py", "sqlite"),
    "procrastinate": ("procrastinate_peer.py", "postgresql"),
    "pgqueuer": ("pgqueuer_peer.py", "postgresql"),
    "huey": ("huey_peer.py", "file"),
}


def python_of(environment):
    """Returns the Python of the virtual environment, which is made if it does not exist."""
    python = os.path.join(environment, "bin", "python")
    if not os.path.exists(os.path.join(environment, "complete")):
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        open(os.path.join(environment, "complete"), "w").close()
    return python


def postgres_program(name):
    """Returns the path of a program of PostgreSQL: from PATH, or from the newest version that Debian installed."""
    paths = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return shutil.which(name) or (paths[-1] if paths else sys.exit(f"{name} of PostgreSQL is not installed"))


def plain_user():
    """Returns the command before a command that root may not run, and the name of its user."""
    if os.getuid() != 0:
        return [], pwd.getpwuid(os.getuid()).pw_name
    for name in ["postgres", "nobody"]:
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"], name
    sys.exit("no user postgres or nobody exists")


@contextlib.contextmanager
def postgres_server():
    """Starts a server in a temporary directory, and stops it at the end. The value is a function that makes a database."""
    plain, user = plain_user()
    directory = tempfile.mkdtemp(prefix="peers-")
    if plain:
        shutil.chown(directory, user)
    data, quiet = os.path.join(directory, "data"), {"stdout": subprocess.DEVNULL, "check": True, "cwd": directory}
    control = [*plain, postgres_program("pg_ctl"), "-D", data]
    options = f"-c listen_addresses= -c unix_socket_directories={directory} -c max_connections=200"
    try:
        subprocess.run([*plain, postgres_program("initdb"), "-D", data, "-U", "postgres", "-A", "trust"], **quiet)
        subprocess.run([*control, "-w", "-o", options, "-l", os.path.join(directory, "log"), "start"], **quiet)

        def database(name, scheme="postgresql"):
            subprocess.run([postgres_program("createdb"), "-h", directory, "-U", "postgres", name], **quiet)
            return f"{scheme}://postgres@/{name}?host={directory}"

        try:
            yield database
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rows", default="1-14")
    parser.add_argument("--environment", default=os.path.join(PACKAGE, ".build-peers"))
    parser.add_argument("peers", nargs="*", metavar="PEER")
    options = parser.parse_args()
    names = options.peers or list(PEERS)
    for name in set(names) - set(PEERS):
        parser.error(f"no such peer: {name}")
    python, failed = python_of(options.environment), False
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(tempfile.TemporaryDirectory())
        server = None
        for name in names:
            program, kind = PEERS[name]
            if kind == "postgresql":
                server = server or stack.enter_context(postgres_server())
                address = server(name)
            else:
                path = os.path.join(files, name + ".db")
                address = path if kind == "file" else f"sqlite:///{path}"
            done = subprocess.run([python, os.path.join(HERE, program), address, str(options.scale), options.rows],
                                  cwd=files, timeout=600,
                                  env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
            failed = failed or done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
