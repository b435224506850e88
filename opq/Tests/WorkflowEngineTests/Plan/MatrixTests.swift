import Testing

@testable import WorkflowEngine

struct MatrixTests {
    @Test func `a matrix has an operation for each combination, without the excluded and with the added ones`() throws {
        let text = """
            operations:
              test:
                matrix: {py: ["3.11", 3.12], os: [a, b]}
                exclude: [{py: "3.11", os: b}]
                include: [{os: c, py: "3.13"}]
                run: ./test {py} "{os}"
              report: {run: x, each: [a], after: ["test[3.12,a]", "test[3.13,c]"]}
            """
        let plan = try plan(of: text)
        #expect(
            plan.operations.map(\.name) == [
                "test[3.11,a]", "test[3.12,a]", "test[3.12,b]", "test[3.13,c]", "report[a]",
            ])
        #expect(plan.operations[0].command == #"./test "$OPQ_PY" "${OPQ_OS}""#)
        #expect(plan.operations[0].variables == ["OPQ_PY": "3.11", "OPQ_OS": "a", "OPQ_ITEM": "3.11,a"])
        #expect(plan.operations[4].dependencies == [1, 3])
        #expect(plan.operations[3].arguments == ["./test", "3.13", "c"])
    }

    @Test(arguments: [
        ("matrix: {}", "'matrix' has no axis; give it at least one, as in {os: [a, b]}"),
        ("matrix: {a: []}", "'a' lists no value; give it at least one"),
        ("matrix: {item: [x]}", "'item' is a placeholder of opq; use another name"),
        (
            "matrix: {a-b: [x]}",
            "'a-b' cannot be a placeholder; use letters, digits and underscores, with no digit first"
        ),
        ("matrix: {a: [x]}, each: [y]", "'matrix' beside 'each'; list the items, or name axes: one of the two"),
        ("exclude: [{a: x}]", "'exclude' without 'matrix'; add matrix: with its axes"),
        ("matrix: {os: [x]}, exclude: [{oss: x}]", "'exclude' names no axis 'oss'; did you mean 'os'?"),
        ("matrix: {os: [linux]}, exclude: [{os: linus}]", "'os' has no value 'linus'; did you mean 'linux'?"),
        ("matrix: {os: [a], v: [b]}, include: [{os: c}]", "'include' has no value for the axis 'v'; give it one"),
        (
            "matrix: {os: [a]}, exclude: [{os: a}]",
            "'exclude' leaves no combination of the matrix; "
                + "leave out fewer, or add optional: true"
        ),
        ("optional: true", "'optional' without 'each'; add each: with a glob or a list"),
    ])
    func `a wrong matrix is reported with a remedy`(keys: String, message: String) {
        let complaints = complaints(about: "operations: {t: {run: x, \(keys)}}")
        #expect(complaints.count == 1 && complaints[0].hasSuffix(": error: " + message), "\(complaints)")
    }

    @Test func `the placeholders of a matrix are its axes and the item`() {
        #expect(
            complaints(about: "operations: {t: {run: 'x {os} {item} {oss}', matrix: {os: [a]}}}") == [
                "w:1:23: error: unknown placeholder '{oss}'; did you mean 'os'?"
            ])
        #expect(
            complaints(about: "operations: {t: {run: 'x {item.stem}', matrix: {os: [a]}}}") == [
                "w:1:23: error: unknown placeholder '{item.stem}'; expected one of item, os"
            ])
    }
}
