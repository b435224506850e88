"""Generates the ordinary mutations of Swift source text, without a compiler.

Conditions become true or false, comparisons move by one, operands, statements, loops and options go, results become nil or
empty, and neighbors that use atomics or locks change places. Not generated are mutations that no test can notice, such as weaker
memory orderings, and those that others imply: a test that notices `a` and `b` in place of `a && b` notices `a || b` as well.
"""

import re

from swift_source import MODIFIERS, blanked, functions, without_comments

# Binary operators, from those that bind least.
OPERATORS = [r"\|\|", "&&", r"[<>]=?|[!=]==?", r"\?\?", r"&?[-+]|[|^]", "&?[*/]|&"]
BINARY = [re.compile(rf"(?<=\s)(?:{operator})(?=\s)") for operator in OPERATORS]
CONDITIONAL = re.compile(r"(?<=\s)\?(?=\s)")
ASSIGNMENT = re.compile(r"(?<=\s)(?:&?[-+*/%]|[&|^]|<<|>>)?=(?=\s)")
COMMA = re.compile(",")
CONTROL = re.compile(r"(?:\w+:\s+)?(?:if|guard|while|for|switch|repeat|do|defer)\b")
FUNCTION = re.compile(MODIFIERS + r"(?:(?:func|init|get|set|willSet|didSet|_read|_modify)\b|var\s+\w+\s*:[^=]*\{)")
DECLARATION = re.compile(MODIFIERS + r"(?:let|var)\s")
BINDING = re.compile(r"(?:let|var|case)\b|#(?:un)?available\b")
SHARED = re.compile(
    r"\.(store|load|exchange|\w*[cC]ompareExchange|add|subtract|wrapping\w+|bitwise\w+|withLock|update|publish|unpark|park)\(")
LABEL = re.compile(r"(?:case|default|@unknown)\b")
CLOSURE_HEAD = re.compile(r"\s*(?!(?:for|if|guard|let|var|return|switch|while)\b)(?:\[[^\]]*\])?[^{}\n=]*?\bin\b")
# Statements that say what is true anyway, save time or space, or guard what no test can see.
UNTESTED = re.compile(
    r"(?:\w+ = |await |try )*(?:(?:assert|precondition)\w*|fatalError|HeldLocks|Log|logger|print|(?:super|self)\.init"
    r"|withExtendedLifetime)\b|[^({]*\b(?:lock|unlock|reserveCapacity|deallocate|deinitialize|prefetch\w*)\(")
# What has no type of its own, and the start of a declaration that gives it none.
TYPELESS = re.compile(r"(?:nil|\[:?\]|\.\w.*|-?[\d_.]+)$", re.S)
UNTYPED = re.compile(r"\b(?:let|var)\s+[^:=\n]+=\s*$")
# Calls that only change a collection. Two of them may change places without any effect.
STORE = re.compile(r"\.(?:append|insert|remove\w*|pop\w*|updateValue|formUnion|subtract|store)\(")
# Calls whose result has the type of their object.
SUFFIX = re.compile(
    r"[?!]?\.(?:inserting|removing|moved|union|subtracting|intersection|sorted|reversed|filter|prefix|suffix|dropFirst|dropLast"
    r"|take|rounded)(?=\(|\s*\{)")
OPPOSITE = re.compile(r"\.(first(?=Index\b)|last(?=Index\b)|min(?=\(|\s*\{)|max(?=\(|\s*\{))")
ACTIVE = re.compile(r"!canImport\((?:Darwin|ObjectiveC)\)$|!\w+$|canImport\((?:Glibc|FoundationEssentials)\)|os\(Linux\)")


def mutations(text):
    """Returns the mutations of a source text: dictionaries with name, function and place, the range and its new text."""
    return Generator(text).found


class Generator:
    """A walk through the functions of a text that collects mutations."""

    def __init__(self, text):
        self.text, self.code = without_comments(text), blanked(text)
        # A string looks like a number, so that it is an operand.
        marked = "".join("\0" if old != new else new for old, new in zip(self.text, self.code))
        self.code = re.sub(r"\0(?:\s*\0)*", lambda match: "0" * len(match.group()), marked)
        self.close, self.found, self.names, self.results, self.closures, opened = {}, [], {}, set(), [], []
        # Generic arguments have no space before their bracket, and comparisons have one.
        for match in re.finditer(r"[(){}\[\]]|(?<=\w)<|(?<![-\s])>", self.code):
            if match.group() in "([{<":
                opened.append(match.start())
            elif match.group() != ">" or opened and self.code[opened[-1]] == "<":
                while match.group() != ">" and self.code[opened[-1]] == "<":
                    opened.pop()
                self.close[opened.pop()] = match.start()
        self.inactive, self.functions, end = inactive(self.code), functions(text), 0
        for function in self.functions:
            if function.start >= end and not re.search(r"\b(?:debugD|d)escription$", function.name):
                self.function(function.start, function.body[0] - 1, None)
                end = function.end

    def add(self, start, end, new, description):
        """Adds a mutation that replaces a range, unless an equal one is there or no build can have it."""
        around = [each for each in self.functions if each.body[0] <= start and end <= each.body[1]]
        if not around or any(first <= start < last for first, last in self.inactive):
            return
        if TYPELESS.match(new) and UNTYPED.search(self.code[max(0, start - 200):start]):
            return
        if self.closures:
            start, end, new = self.with_parameters(*self.closures[-1], start, end, new)
        first, last = around[-1].body
        if re.match(r"\s*get\b", self.code[first:last]):  # An accessor that throws a type is not among the functions.
            return
        result = " ".join((self.text[first:start] + new + self.text[end:last]).split())
        if (first, result) in self.results:
            return
        self.results.add((first, result))
        name = f"{around[-1].name}: {description}"
        self.names[name] = self.names.get(name, 0) + 1
        if self.names[name] > 1:
            name += f" ({self.names[name]})"
        self.found.append({"name": name, "function": (first, last), "place": (start, end, new)})

    def with_parameters(self, brace, close, start, end, new):
        """Changes a mutation that would leave a closure with fewer parameters, such as one without `$0`."""
        old, body = self.text[brace + 1:close], self.text[brace + 1:start] + new + self.text[end:close]
        last = max(re.findall(r"\$\d", old), default="")
        if not last or not brace < start or last in body:
            return start, end, new
        body = body.strip()
        is_value = body and "\n" not in body and not re.match(r"(?:if|guard|for|return)\b|_ =|.* [-+]?= ", body)
        return brace + 1, close, f" _ = {last}; " + ("return " if is_value else "") + body + " "

    def values(self, start, end):
        """Returns the values to give a condition. Those of its operands imply the others."""
        if self.code[start:end] in ("true", "false"):
            return ()
        if len(self.split(start, end, BINARY[0])) > 1:
            return ("true",)
        return ("false",) if len(self.split(start, end, BINARY[1])) > 1 else ("true", "false")

    def force(self, start, end):
        """Adds mutations that give a condition a value."""
        for value in self.values(start, end):
            self.add(start, end, value, f"{self.quote(start, end)} is always {value}")

    def quote(self, start, end):
        text = " ".join(self.text[start:end].split())
        return f"'{text if len(text) <= 70 else text[:69] + '…'}'"

    # --- Text ---

    def trim(self, start, end):
        """Returns the range without the white space around it."""
        length = len(self.code[start:end].rstrip())
        return start + length - len(self.code[start:start + length].lstrip()), start + length

    def places(self, start, end):
        """Yields the places outside of brackets. Those of opening brackets are among them."""
        while start < end:
            yield start
            start = self.close.get(start, start) + 1

    def find(self, start, end, pattern):
        """Returns the first match outside of brackets, or None."""
        return next((found for place in self.places(start, end) if (found := pattern.match(self.code, place, end))), None)

    def split(self, start, end, pattern):
        """Returns the ranges between the matches outside of brackets."""
        parts, first = [], start
        for place in self.places(start, end):
            found = pattern.match(self.code, place, end) if place >= first else None
            if found:
                parts.append(self.trim(first, place))
                first = found.end()
        return parts + [self.trim(first, end)]

    def statements(self, start, end):
        """Returns the ranges of the statements and of the labels of cases in a block."""
        found, first = [], None
        for place in self.places(start, end):
            if first is None and not self.code[place].isspace():
                first = place
            if first is None:
                continue
            char, is_label = self.code[place], LABEL.match(self.code, first)
            if char == ":" and is_label:
                found.append((first, place + 1))
                first = None
            elif char == ";" or char == "\n" and not is_label and not self.continues(first, place, end):
                found.append(self.trim(first, place))
                first = None
        return found + ([self.trim(first, end)] if first is not None else [])

    def continues(self, first, place, end):
        """Whether a statement goes on after the end of this line."""
        before, after = self.code[first:place].rstrip(), self.code[place:end].lstrip()[:40]
        return bool(
            re.search(r"[,:]$|(?:^|\s)(?:[-+*/%&|^<>=?]+|in|else|try|await|return|guard|if|while)$", before)
            or re.match(r"[.?:]\s?\w|[{?:]|[-+*/%&|^<>=!?]+\s|(?:else|catch|where|as|is|throws)\b", after)
            or before.startswith("repeat") and re.match(r"while\b", after))

    # --- Functions and blocks ---

    def function(self, start, brace, outer):
        """Visits a function. `outer` is the result of the property that has the accessor."""
        signature = self.code[start:brace]
        plain = re.sub(r"\([^()]*\)", "()", re.sub(r"\([^()]*\)", "", signature))
        result = re.search(r"(?:->|\bvar\s+\w+\s*:)\s*(.*?)\s*(?:\bwhere\b.*)?$", plain, re.S)
        if result:
            self.result = None if result[1] in ("Void", "Never", "()") else result[1]
        else:
            self.result = outer if re.match(MODIFIERS + r"(?:get|_read)\b", signature) else None
        self.is_initializer = re.match(MODIFIERS + r"init\b", signature) is not None
        self.body = self.code[brace:self.close[brace]]
        self.block(brace, self.result)

    def nested(self, visit):
        """Visits a function or closure inside of the present one."""
        kept = self.result, self.is_initializer, self.body
        visit()
        self.result, self.is_initializer, self.body = kept

    def closure(self, brace):
        def visit():
            self.result, self.is_initializer = "_", False
            head = CLOSURE_HEAD.match(self.code, brace + 1, self.close[brace])
            self.closures += [] if head else [(brace, self.close[brace])]
            self.block(brace, "_", head.end() if head else None)
            del self.closures[depth:]

        depth = len(self.closures)
        self.nested(visit)

    def block(self, brace, value, start=None, is_sole=False):
        """Visits a block. `value` is the type of its value, if it has one. `is_sole`: another mutation skips the block."""
        groups, labels = [[]], []
        for first, end in self.statements(start or brace + 1, self.close[brace]):
            if LABEL.match(self.code, first):
                groups.append([])
                labels.append((first, end))
            else:
                groups[-1].append((first, end))
        self.labels(labels)
        for group in groups:
            before = None
            for first, end in group:
                is_alone = len(group) == 1
                kind = self.statement(first, end, value if is_alone else None, is_sole and is_alone, labels and is_alone)
                # The order of other statements rarely matters to a program that compiles.
                if before and kind and all(SHARED.search(self.text, *each) for each in (before[:2], (first, end))):
                    middle = self.text[before[1]:first]
                    self.add(before[0], end, self.text[first:end] + middle + self.text[before[0]:before[1]],
                             f"{self.quote(first, end)} comes before {self.quote(*before[:2])}")
                before = (first, end, kind) if kind else None

    def labels(self, labels):
        """Adds mutations of the patterns of a switch."""
        has_default = any(not self.code.startswith("case", first) for first, _ in labels)
        for first, end in labels:
            if self.code.startswith("case", first):
                for pattern in self.split(first + 4, end - 1, COMMA):
                    self.condition_of(*pattern)
                if has_default:
                    self.drop_one(first + 4, end - 1)

    def condition_of(self, start, end):
        """Visits the condition after `where`, if there is one. Returns where the rest ends."""
        where = self.find(start, end, re.compile(r"(?<=\s)where\b"))
        if not where:
            return end
        first, last = self.trim(where.end(), end)
        self.add(where.start(), last, "", f"{self.quote(first, last)} is always true")
        self.expression(first, last, True)
        return where.start()

    def drop_one(self, start, end):
        """Adds mutations that drop one element of a list with several."""
        parts = self.split(start, end, COMMA)
        for index, (first, last) in enumerate(parts):
            if len(parts) > 1 and last > first:
                whole = self.quote(*self.trim(start, end))
                self.add(*neighbors(parts, index), "", f"drops {self.quote(first, last)} of {whole}")

    # --- Statements ---

    def statement(self, start, end, value, is_sole=False, is_case=False):
        """Visits a statement. Returns its kind, call or store, if it may change places."""
        code = self.code[start:end]
        if code.startswith("#") or UNTESTED.match(code) or code.startswith("defer") and re.search(r"unlock|\.end\b", code):
            return None
        if FUNCTION.match(code):
            outer = self.result
            for place in self.places(start, end):
                if self.code[place] == "{":
                    self.nested(lambda: self.function(start, place, outer))
            return None
        if CONTROL.match(code):
            self.control(start, end, value)
            return None
        jump = re.match(r"(?:return|throw|yield|break|continue|fallthrough)\b\s*", code)
        assignment = self.find(start, end, ASSIGNMENT)
        if jump:
            if jump.group().startswith("return"):
                self.returned(start + jump.end(), end, self.result or "_")
            else:
                self.expression(start + jump.end(), end)
            return None
        if DECLARATION.match(code):
            self.expression(assignment.end() if assignment else end, end)
            return None
        if value is not None and not assignment:
            self.returned(start, end, value)
            return None
        self.expression(assignment.end() if assignment else start, end)
        if not assignment and not re.search(r"[(})]$", code):
            return None
        new = "break" if is_case else ""
        if assignment and assignment.group() == "=":
            target = re.escape(code[:assignment.start() - start].strip())
            is_first = re.search(r"\b(?:let|var)\s+" + target + r"\s*:[^=\n]*$", self.body, re.M)
            if self.is_initializer or is_first or code[assignment.end() - start:].strip() in ("true", "false"):
                return None
            if target == "_" and "(" not in code:
                return None
        if not is_sole:
            self.add(start, end, new, f"removes {self.quote(start, end)}")
        return "store" if assignment or STORE.search(code) else "call"

    def returned(self, start, end, type):
        """Visits the result of a function."""
        start, end = self.trim(start, end)
        code = self.code[start:end]
        if not code or CONTROL.match(code):
            return self.expression(start, end, type=type)
        if type == "Bool":
            self.force(start, end)
        elif type.endswith("?") and code != "nil":
            self.add(start, end, "nil", f"returns nil in place of {self.quote(start, end)}")
        elif re.fullmatch(r"\[.*\]", type) and not re.fullmatch(r"\[:?\]", code):
            new = "[:]" if re.search(r"\w:", type) else "[]"
            self.add(start, end, new, f"returns {new} in place of {self.quote(start, end)}")
        self.expression(start, end, type == "Bool" and code not in ("true", "false"))

    def control(self, start, end, value):
        """Visits a statement, or an expression, that has conditions or blocks."""
        start += re.match(r"(?:\w+:\s+)?", self.code[start:end]).end()
        keyword, place, has_else = "", start, self.find(start, end, re.compile(r"\belse\b"))
        while place < end:
            if self.code[place] == "{":
                is_value = keyword in ("if", "switch", "do", "else", "catch")
                is_sole = keyword == "for" or keyword in ("if", "while") and not has_else
                self.block(place, value if is_value else None, is_sole=is_sole)
            found = re.compile(r"\b(?:if|guard|while|for|switch|repeat|do|defer|else|catch)\b").match(self.code, place, end)
            if not found:
                place = self.close.get(place, place) + 1
                continue
            keyword, head = found.group(), found.end()
            place = head
            if keyword in ("repeat", "do", "defer", "else"):
                continue
            stop = self.find(head, end, re.compile(r"else\b" if keyword == "guard" else r"\{"))
            is_repeat = keyword == "while" and found.start() > start
            place = stop.start() if stop and not is_repeat else end
            if keyword in ("if", "guard", "while"):
                self.conditions(keyword, *self.trim(head, place), place, end, has_else)
            elif keyword == "switch":
                self.expression(head, place)
            elif keyword == "for":
                self.loop(found.start(), head, place)

    def conditions(self, keyword, head, stop, brace, end, has_else):
        """Visits the conditions of a statement."""
        parts = self.split(head, stop, COMMA)
        for index, (first, last) in enumerate(parts):
            if BINDING.match(self.code, first):
                assignment = self.find(first, last, ASSIGNMENT)
                self.expression(assignment.end() if assignment else last, last)
                continue
            if "true" in self.values(first, last) and (len(parts) > 1 or keyword != "while"):
                new = "" if len(parts) > 1 else "true"
                self.add(*neighbors(parts, index), new, f"{self.quote(first, last)} is always true")
            self.expression(first, last, True)
        description = f"{self.quote(head, stop)} is always false"
        if keyword == "if" and not has_else:
            self.add(brace + 1, self.close[brace], "", description)
        elif len(parts) > 1 or "false" in self.values(head, stop):
            # The conditions are evaluated still, except those of a loop.
            first, last, new = (stop, stop, ", false") if keyword != "while" else (head, head, "false, ")
            self.add(*((head, stop, "false") if brace == end else (first, last, new)), description)
        if keyword == "while" and brace < end and self.code[head:stop] != "true" \
                and not re.search(r"\b(?:break|continue)\b", self.code[brace:self.close[brace]]):
            start = self.code.rindex("while", 0, head)
            self.add(start, start + 5, "if", f"'while' becomes 'if' in {self.quote(head, stop)}")

    def loop(self, start, head, brace):
        """Visits the head of a loop over a sequence."""
        stop, sequence = self.condition_of(head, brace), self.find(head, brace, re.compile(r"(?<=\s)in\b"))
        if sequence:
            self.expression(sequence.end(), stop)
        self.add(brace + 1, self.close[brace], "", f"{self.quote(start, brace)} has no effect")

    # --- Expressions ---

    def expression(self, start, end, is_condition=False, type="_"):
        """Visits an expression. `is_condition`: other mutations make it true and false."""
        prefix = re.compile(r"\s*(?:(?:try[?!]?|await|consume|copy|unsafe)\s+)*&?").match(self.code, start, end)
        start, end = self.trim(prefix.end(), end)
        code = self.code[start:end]
        if not code:
            return None
        if re.match(r"(?:if|switch|do)\b", code):
            return self.control(start, end, type)
        if code in ("true", "false"):
            if not is_condition:
                self.add(start, end, "false" if code == "true" else "true", f"{self.quote_around(start, end)} is inverted")
            return None
        question = self.find(start, end, CONDITIONAL)
        colon = question and self.find(question.end(), end, re.compile(r"(?<=\s):(?=\s)"))
        if colon:
            return self.choice(start, question, colon, end)
        for level, operator in enumerate(BINARY):
            parts = self.split(start, end, operator)
            if len(parts) > 1 and all(first < last for first, last in parts):
                if level < 3 and not is_condition:
                    self.force(start, end)
                return self.operation(level, parts)
        if code[0] == "!" and not is_condition or code[0] in "~-" and len(code) > 2:
            self.add(start, start + 1, "", f"drops '{code[0]}' of {self.quote(start, end)}")
        self.operand(start, end)

    def quote_around(self, start, end):
        """Quotes a literal with its label, or with its line."""
        label = re.search(r"(?:[\w.\[\]?!]+(?: =|:)|return) $", self.code[max(0, start - 60):start])
        return self.quote(start - len(label.group()) if label else self.code.rindex("\n", 0, start) + 1, end)

    def choice(self, start, question, colon, end):
        """Visits a conditional expression."""
        first, second = self.trim(question.end(), colon.start()), self.trim(colon.end(), end)
        condition = self.trim(start, question.start())
        for value, part in (("true", first), ("false", second)):
            self.add(start, end, self.text[slice(*part)], f"{self.quote(*condition)} is always {value}")
        self.expression(*condition, True)
        self.expression(*first)
        self.expression(*second)

    def operation(self, level, parts):
        """Visits the operands of binary operators that bind alike."""
        whole = self.quote(parts[0][0], parts[-1][1])
        for index, (first, last) in enumerate(parts):
            before, after = neighbors(parts, index)
            operator = self.code[before:first].strip()
            if level < 2:
                self.add(before, after, "", f"{self.quote(first, last)} is always {('false', 'true')[level]} in {whole}")
            elif level == 2 and index and operator[0] in "<>":
                self.boundary(before, first, last, operator, whole)
            elif level == 3 and index == 0:
                self.add(before, after, "", f"{whole} is always {self.quote(after, parts[-1][1])}")
            elif level > 3 and (index or len(parts) == 2 and self.code[last:after].strip() == "*"):
                self.add(before, after, "", f"drops {self.quote(before, after)} of {whole}")
            self.expression(first, last, level < 2)

    def boundary(self, before, first, last, operator, whole):
        """Adds mutations that move the boundary of a comparison by one, to either side."""
        other = operator[0] if operator[1:] else operator + "="
        self.add(before, first, f" {other} ", f"{whole} has {other}")
        if re.fullmatch(r"\d+", self.text[first:last]):
            number = int(self.text[first:last]) + (1 if operator in ("<=", ">") else -1)
            if number >= 0:
                self.add(first, last, str(number), f"{whole} has {number}")

    def operand(self, start, end):
        """Visits what an operand has in brackets."""
        code = self.code[start:end]
        extreme = re.match(r"(?:Swift\.)?(?:min|max)(?=\()", code)
        if extreme and self.close.get(start + extreme.end()) == end - 1:
            is_part = re.search(r"[-+*/%&|<>=!?]= $|\s[-+*/%&|<>?]\s+$", self.code[start - 8:start]) \
                or re.match(r"\s+[-+*/%&|<>?]", self.code[end:end + 8])
            for part in self.split(start + extreme.end() + 1, end - 1, COMMA):
                new = self.text[slice(*part)]
                self.add(start, end, f"({new})" if is_part else new,
                         f"{self.quote(start, end)} is always {self.quote(*part)}")
        for place in self.places(start, end):
            suffix = SUFFIX.match(self.code, place, end)
            if suffix and place > start:
                stop = self.find(suffix.end(), end, re.compile(r"[({]")).start()
                stop = self.close[stop] + 1
                self.add(place, stop, "", f"drops {self.quote(place, stop)} of {self.quote(start, end)}")
            if swap := OPPOSITE.match(self.code, place, end):
                other = {"first": "last", "last": "first", "min": "max", "max": "min"}[swap[1]]
                self.add(swap.start(1), swap.end(1), other, f"'{swap[1]}' becomes '{other}' in {self.quote(start, end)}")
            char = self.code[place]
            if char == "{":
                self.closure(place)
            elif char in "([":
                parts = self.split(place + 1, self.close[place], COMMA)
                is_literal = char == "[" and not re.match(r"[\w)\]?!]", self.code[place - 1])
                if is_literal and all(re.fullmatch(r"\.\w+", self.code[slice(*part)]) for part in parts):
                    self.drop_one(place + 1, self.close[place])
                for first, last in parts:
                    label = re.compile(r"\s*\w+\s*:\s").match(self.code, first, last)
                    self.expression(label.end() if label else first, last)


def inactive(code):
    """Returns the ranges that a build on Linux without traits leaves out, and those of debug builds."""
    ranges, levels = [], []
    for line in re.finditer(r"^[ \t]*#(if|elseif|else|endif)\b(.*)$", code, re.M):
        start, is_active, was_active = levels.pop() if line[1] != "if" else (0, True, False)
        if not is_active:
            ranges.append((start, line.start()))
        if line[1] != "endif":
            is_active = not was_active and (line[1] == "else" or ACTIVE.match(line[2].strip()) is not None)
            levels.append((line.start(), is_active, was_active or is_active))
    return ranges


def neighbors(parts, index):
    """Returns the range of an element of a list together with the separator before it; after it, if it is the first."""
    if len(parts) == 1:
        return parts[0]
    return (parts[index - 1][1], parts[index][1]) if index else (parts[0][0], parts[1][0])
