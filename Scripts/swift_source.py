"""Finds the functions of Swift source text, with their full names, without a compiler."""

import re

MODIFIERS = r"(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|private|fileprivate|open|final|static|class|override|mutating" \
    r"|nonmutating|nonisolated|convenience|required|consuming|borrowing|weak|unowned|indirect|lazy)(?:\(\w+\))?\s+)*"
FUNCTION = re.compile(
    MODIFIERS + r"(?:func\s+(?P<func>[^\s\w(]+|\w+|`[^`]+`)|(?P<init>init|deinit|subscript)\b|var\s+(?P<var>\w+)\s*:[^={]*$"
    r"|(?P<accessor>get|set|willSet|didSet|_read|_modify|unsafeAddress|unsafeMutableAddress)\b(?:\(\w+\))?(?:\s+(?:async|throws))*\s*$)",
    re.S)
TYPE = re.compile(MODIFIERS + r"(?:class|struct|enum|actor|protocol|extension)\s+(?P<type>[\w.]+)", re.S)


def without_comments(text):
    """Returns the text with comments replaced by spaces."""
    return blanked(text, strings=False)


def blanked(text, strings=True):
    """Returns the text with comments and, if `strings`, the contents of strings replaced by spaces."""
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
            if strings:
                blank(index, end)
        index = end
    return "".join(result)


class Function:
    """A function, an initializer, an accessor or a computed property.

    `start` and `end` are the range of its declaration, from the modifiers to the closing brace. `body` is the range between the
    braces.
    """

    def __init__(self, name, start, body):
        self.name, self.start, self.body, self.end = name, start, body, body[1] + 1


def functions(text):
    """Returns the functions of the text. A name has the types around it: `Inbox.push`."""
    code, opened, found = blanked(text), [], []
    for match in re.finditer(r"[{}]", code):
        if match.group() == "{":
            # The last statement is never longer than the window, and the whole text in its place takes quadratic time.
            window = max(0, match.start() - 4000)
            statement, start = last_statement(code[window:match.start()])
            start += window
            function, type = FUNCTION.match(statement), TYPE.match(statement)
            name = None
            if function:
                name = next(part for part in function.groups() if part)
            elif type:
                name = type.group("type")
            opened.append((match.start(), start, name, bool(function)))
        elif opened:
            brace, start, name, is_function = opened.pop()
            if is_function:
                names = [outer[2] for outer in opened if outer[2]] + [name]
                found.append(Function(".".join(names), start, (brace + 1, match.start())))
    return sorted(found, key=lambda function: function.start)


def function_bodies(text):
    """Returns the ranges between the braces of functions, initializers, accessors and computed properties."""
    return [function.body for function in functions(text)]


def last_statement(text):
    """Returns the last statement of the text, which may go over several lines, and where it starts."""
    start, depth = len(text), 0
    while start > 0 and (depth or text[start - 1] not in "{};"):
        start -= 1
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth < 0:  # A closure in the arguments of a call.
            return "", len(text)
        rest = text[start:].lstrip()
        if depth == 0 and text[start] == "\n" and rest and not re.match(r"where\b|->|throws\b|async\b", rest):
            # Attributes may stand on lines of their own, and a list of protocols may go over several lines.
            before = text[:start].rstrip().rsplit("\n", 1)[-1].strip()
            if not re.fullmatch(r"@\w+(?:\([^)]*\))?", before) and not before.endswith(","):
                break
    statement = text[start:]
    return statement.strip(), start + len(statement) - len(statement.lstrip())
