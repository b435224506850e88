"""Writes mutations into Swift text so that one build has all of them and a function `mutated` chooses one at run time.

Each function that has mutations gets one body for each of them: `if mutated(1) {…} else if mutated(2) {…} else {…}`.
"""

from swift_source import function_bodies

RECORD_SIZE = 4096
SWITCH = """#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

let chosenMutant: Int32 = getenv("OPERATIONS_MUTANT").map { atoi($0) } ?? 0

/// A byte for each mutation: 1 if its function was called. In a file, because a test may end the process.
nonisolated(unsafe) let calledMutants: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("OPERATIONS_MUTANT_CALLS") else { return nil }
    let memory = mmap(nil, %d, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 0)
    return memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
}()

@usableFromInline func mutated(_ number: Int32) -> Bool {
    calledMutants?[Int(number)] = 1
    return chosenMutant == number
}
""" % RECORD_SIZE


def with_mutants(text, mutants):
    """The text with all the mutations, chosen at run time; and the lines of each: (first, last, numbers)."""
    bodies, groups = function_bodies(text), {}
    for mutant in mutants:
        start, end, _ = mutant["place"]
        around = [body for body in bodies if body[0] <= start and end <= body[1]]
        if not around:
            mutant["alone"] = "outside of function bodies"
            print(f"alone: {mutant['name']}: {mutant['alone']}", flush=True)
            continue
        groups.setdefault(max(around), []).append(mutant)
    for inner in sorted(groups, key=lambda body: body[1] - body[0]):  # a body in another one becomes part of that
        outer = next((body for body in groups if body != inner and body[0] <= inner[0] and inner[1] <= body[1]), None)
        if outer:
            groups[outer] += groups.pop(inner)
    result, lines, last = "", [], 0
    for (start, end), members in sorted(groups.items()):
        result += text[last:start]
        for mutant in members:
            first, stop, new = mutant["place"]
            result += f" if mutated({mutant['number']}) {{"
            begin = result.count("\n") + 1
            result += text[start:first] + new + text[stop:end] + "\n} else"
            lines.append((begin, result.count("\n") + 1, [mutant["number"]]))
        begin = result.count("\n") + 1
        result += " {" + text[start:end] + "\n}\n"
        lines.append((begin, result.count("\n"), [mutant["number"] for mutant in members]))
        last = end
    return result + text[last:], lines
