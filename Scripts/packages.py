"""The packages whose modules other programs use, and the results of their debug builds."""

import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Package:
    """A package of this repository. The name of its flags is that in Scripts/flags."""

    def __init__(self, folder, flags, default_module, public_modules):
        self.folder, self.default_module, self.public_modules = folder, default_module, public_modules
        self.flags = subprocess.run(
            [os.path.join(ROOT, "Scripts", "flags"), flags], check=True, capture_output=True, text=True).stdout.splitlines()
        scratch = self.flags[self.flags.index("--scratch-path") + 1]
        self.modules = os.path.join(ROOT, scratch, "debug", "Modules")

    def build(self):
        """Builds the package with the flags of the check, so that everything that the check has built is there."""
        environment = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1")
        if subprocess.run(["swift", "build", *self.flags], cwd=ROOT, env=environment).returncode:
            sys.exit(1)

    def files(self, *pattern):
        """Returns the paths, relative to the repository, of the files in the package that match the pattern."""
        return sorted(glob.glob(os.path.join(self.folder, *pattern), root_dir=ROOT, recursive=True))

    def write_symbol_graphs(self, module, folder, *options):
        """Writes the graphs of the public symbols of a module, and of its extensions of other modules, to a folder.

        `swift package dump-symbol-graph` would do the same for all modules, those of the tests too.
        """
        target = json.loads(subprocess.run(
            ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout)["target"]["triple"]
        done = subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-output-dir", folder,
             "-minimum-access-level", "public", *imports(self.modules), *options],
            cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def imports(modules):
    """Returns the options with which the compiler finds the modules in a folder, and the C modules that they import."""
    # All C modules of the build folder. The plan of the build names those of one package, and another package's build, which
    # may run at the same time in the same folder, replaces it.
    scratch = os.path.dirname(os.path.dirname(modules))
    maps = [*glob.glob(os.path.join(scratch, "debug", "*.build", "module.modulemap")),
            *glob.glob(os.path.join(scratch, "checkouts", "*", "Sources", "*", "module.modulemap")),
            *glob.glob(os.path.join(scratch, "checkouts", "*", "Sources", "*", "include", "module.modulemap")),
            *glob.glob(os.path.join(ROOT, "*", "Sources", "*", "module.modulemap"))]
    headers = [option for library in ("vips", "libpq") for option in subprocess.run(
        ["pkg-config", "--cflags-only-I", library], capture_output=True, text=True).stdout.split()]
    # The client of the step `packages` leaves copies of this project's packages in the folder.
    maps = [path for path in maps if os.sep + os.path.join("checkouts", "swift-operations") not in path]
    options = ["-fmodule-map-file=" + path for path in sorted(maps)] + headers
    return ["-I", modules, *(part for option in options for part in ("-Xcc", option))]


def packages():
    return [
        Package("", "traits_flags", "Operations",
                ["KeyValueObserving", "Operations", "OperationsFoundation", "OperationsTimeline", "OperationsTesting",
                 "OperationsCombine", "OperationsObservability"]),
        Package("Networking", "networking_flags", "OperationsNetworking",
                ["HTTPCore", "HTTPCaching", "OperationsNetworking", "OperationsImages"]),
        Package("Durable", "durable_flags", "OperationsDurable",
                ["DurableCore", "OperationsDurable", "OperationsDurablePostgres", "DurableTesting"]),
        Package("Dashboard", "dashboard_flags", "OperationsDashboard", ["OperationsDashboard"]),
    ]
