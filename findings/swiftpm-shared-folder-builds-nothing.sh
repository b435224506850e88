#!/bin/sh
# SwiftPM of Swift 6.3.1: two packages with the same traits share a folder (`--scratch-path`). After two builds of one package, a build
# of the other one says "Build complete!", ends with status 0, and builds nothing.
#
# The folder keeps one plan. The second build of the first package records that the plan is up to date, and SwiftPM then takes it
# for that of any package. With one build before, or with `--disable-build-manifest-caching`, it plans anew. An older program of the
# second package stays in the folder, although its sources have changed.
#
# Seen on 2026-11-30, Debian 12, x86_64:
#     after one build of first: status 0, second exists
#     after two builds of first: status 0, second is missing
#     without the cache of plans: status 0, second exists
#
# Here: Scripts/flags.
set -eu
command -v swift > /dev/null || { echo 'swift is missing'; exit 2; }
swift --version 2>&1 | grep -q 'Swift version 6\.3\.1 ' || { echo 'this was seen with Swift 6.3.1'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for name in first second; do
    mkdir -p "$name/Sources/$name"
    cat > "$name/Package.swift" << END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "$name", targets: [.executableTarget(name: "$name")])
END
    echo "print(\"$name\")" > "$name/Sources/$name/main.swift"
done
build() {
    swift build --package-path "$1" --scratch-path "$2" $3 > log 2>&1 || { cat log; exit 2; }
}
show() {
    build second "$2" "$3"
    status=$?
    if [ -e "$2/debug/second" ]; then place=exists; else place='is missing'; fi
    echo "$1: status $status, second $place"
}
{
    build first once ''
    show 'after one build of first' once ''
    build first twice ''
    build first twice ''
    show 'after two builds of first' twice ''
    build first plain --disable-build-manifest-caching
    build first plain --disable-build-manifest-caching
    show 'without the cache of plans' plain --disable-build-manifest-caching
} | tee seen
cat > expected << 'END'
after one build of first: status 0, second exists
after two builds of first: status 0, second is missing
without the cache of plans: status 0, second exists
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
