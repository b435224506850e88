import Testing

@testable import WorkflowEngine

struct UnsetVariablesTests {
    @Test(arguments: [
        ("rm -rf build/${item}", ["${item}"]), ("rm $item; rm \"$item\"", ["$item"]),
        ("x=\"$(rm ${item%.c})\"", ["${item}"]),
        ("rm \\$$item '$item' \\$item $items ${items}", []), ("awk '{print $item}' {item} # $item", []),
        ("for item in a b; do rm \"$item\"; done", []), ("item=7; rm $item", []), ("read -r item; rm $item", []),
        ("rm ${item:-x} ${item?}", []), ("cat <<'E'\n$item\nE", []), ("cat <<E\n$item\nE", ["$item"]),
        ("echo item; rm $item", ["$item"]), ("rm {item}; rm ${item.name}", ["${item}"]),
    ])
    func `a placeholder without its own braces is found`(command: String, found: [String]) {
        #expect(UnsetVariables(in: command, names: ["item"]).found.map(\.text) == found, "\(command)")
    }

    @Test func `a placeholder that is written as a variable is reported with the remedy`() {
        #expect(
            complaints(about: "operations: {f: {run: 'rm -rf build/${item}', each: [a]}}") == [
                "w:1:23: error: '${item}' is a variable that nothing sets; write {item}, or \"$OPQ_ITEM\""
            ])
        #expect(
            complaints(about: "vars: {opq_l: 1}\noperations: {f: {run: 'rm $opq_l$opq_m', matrix: {opq_m: [a]}}}") == [
                "w:2:23: error: '$opq_l' is a variable that nothing sets; write {opq_l}, or \"$OPQ_OPQ_L\"",
                "w:2:23: error: '$opq_m' is a variable that nothing sets; write {opq_m}, or \"$OPQ_OPQ_M\"",
            ])
        #expect(
            complaints(about: "operations: {f: {run: 'rm $item', each: [a], environment: {item: x}}}") == [])
        #expect(complaints(about: "operations: {f: {run: 'rm $item'}}") == [])
    }
}
