"""Writes mutations into Swift text so that one build has all of them and a function `mutated` chooses one at run time.

Each function that has mutations gets one body for each of them: `if mutated(1) {…} else if mutated(2) {…} else {…}`.
"""

import re

SWITCH = """#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

let chosenMutant: Int32 = getenv("OPERATIONS_MUTANT").map { atoi($0) } ?? 0

@usableFromInline func mutated(_ number: Int32) -> Bool { chosenMutant == number }
"""
MODIFIERS = r"(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|private|fileprivate|open|final|static|class|override|mutating" \
    r"|nonmutating|nonisolated|convenience|required|consuming|borrowing|weak|unowned)(?:\(\w+\))?\s+)*"
DECLARATION = re.compile(
    MODIFIERS + r"(?:func\b|init\b|deinit\b|subscript\b|var\s+\w+\s*:[^={]*$"
    r"|(?:get|set|willSet|didSet|_read|_modify)\b(?:\(\w+\))?(?:\s+(?:async|throws))*\s*$)", re.S)


def blanked(text):
    """The text with comments and the contents of strings replaced by spaces."""
    result, index = list(text), 0

    def blank(start, end):
        for position in range(start, end):
            if result[position] != "\n":
                result[position] = " "

    def end_of_string(start):
        hashes = len(text[start:]) - len(text[start:].lstrip("#"))
        quote = '"""' if text.startswith('"""', start + hashes) else '"'
        end, escape, position = quote + "#" * hashes, "\\" + "#" * hashes, start + hashes + len(quote)
        while not text.startswith(end, position):
            if text.startswith(escape + "(", position):
                position, depth = position + len(escape) + 1, 1
                while depth:
                    if text[position] == '"':
                        position = end_of_string(position)
                        continue
                    depth += {"(": 1, ")": -1}.get(text[position], 0)
                    position += 1
            else:
                position += len(escape) + 1 if text.startswith(escape, position) else 1
        return position + len(end)

    while index < len(text):
        end = index + 1
        if text.startswith("//", index):
            end = text.find("\n", index) if "\n" in text[index:] else len(text)
            blank(index, end)
        elif text.startswith("/*", index):
            end = text.index("*/", index) + 2
            blank(index, end)
        elif re.match(r'#*"', text[index:index + 4]):
            end = end_of_string(index)
            blank(index, end)
        index = end
    return "".join(result)


def function_bodies(text):
    """The ranges between the braces of functions, initializers, accessors and computed properties."""
    text, opened, bodies = blanked(text), [], []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            opened.append(match.start())
        else:
            start = opened.pop()
            if DECLARATION.match(last_statement(text[:start])):
                bodies.append((start + 1, match.start()))
    return bodies


def last_statement(text):
    """The last statement of the text, which may go over several lines."""
    start, depth = len(text), 0
    while start > 0 and (depth or text[start - 1] not in "{}"):
        start -= 1
        depth += {")": 1, "(": -1}.get(text[start], 0)
        rest = text[start:].lstrip()
        if depth == 0 and text[start] == "\n" and rest and not re.match(r"where\b|->|throws\b|async\b", rest):
            break
    return text[start:].strip()


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
