import Testing

@testable import WorkflowEngine

struct FileLinksTests {
    private func complaint(_ operations: String) -> [String] {
        complaints(about: "operations:\n" + operations.split(separator: "\n").map { "  \($0)\n" }.joined())
    }

    @Test(arguments: [
        ("o", "o"), ("o", "./o"), ("x", "x/o"), ("d/../o", "o"), (".", "x/o"), ("/t/o", "/t/./o"), ("x//o", "x/o"),
    ])
    func `two operations cannot make one file, or a file in a folder of the other`(_ pair: (String, String)) {
        let (first, second) = pair
        let text = "a: {run: x, outputs: ['\(first)']}\nb: {run: y, outputs: ['\(second)']}"
        let found = complaint(text)
        #expect(found.count == 1)
        #expect(found.first?.contains(" both make '") == true && found.first?.contains("'a'") == true)
    }

    @Test(arguments: [("o", "o2"), ("x", "y/x"), ("o", "/o"), ("*.o", "a.o")])
    func `operations with different files are correct`(_ pair: (String, String)) {
        let text = "a: {run: x, outputs: ['\(pair.0)']}\nb: {run: y, outputs: ['\(pair.1)']}"
        #expect(complaint(text) == [])
    }

    @Test func `the place is that of the second output, and the members of a family have one fault`() {
        #expect(
            complaint("a: {run: x, outputs: [p, o]}\nb: {run: y, outputs: [q, o]}") == [
                "w:3:28: error: 'a' and 'b' both make 'o'; give each its own output"
            ])
        let family = "f: {each: [1, 2, 3], run: 'touch o', outputs: [o]}"
        #expect(
            complaint(family) == [
                "w:2:50: error: 'f[1]' and 'f[2]' both make 'o'; give each item its own output, as in {item.stem}.o"
            ])
        #expect(complaint("a: {run: x, outputs: [o]}\nb: {run: y, after: a, when: failure, outputs: [o]}") == [])
    }

    @Test(arguments: ["gen", "./gen", "g*", "."])
    func `an input that another operation makes needs an order`(_ input: String) {
        let text = "make: {run: x, outputs: [gen]}\nuse: {run: y, inputs: ['\(input)']}"
        let found = complaint(text)
        #expect(found.count == 1)
        #expect(
            found.first?.hasSuffix("which 'make' makes, and does not wait for it; add after: make") == true, "\(found)")
        #expect(complaint(text.replacing("inputs:", with: "after: make, inputs:")) == [])
        // The file of an earlier run is read then, and no two commands use it at a time.
        #expect(complaint(text.replacing("make: {", with: "make: {after: use, ")) == [])
    }

    @Test func `an order may lead over other operations and barriers`() {
        #expect(
            complaint(
                """
                make: {run: x, outputs: [gen]}
                between: {run: x, after: make}
                use: {run: y, inputs: [gen], after: between}
                """) == [])
        #expect(
            complaint(
                """
                make: {run: x, outputs: [gen]}
                wall: {run: x, barrier: true}
                use: {run: y, inputs: [gen]}
                """) == [])
        #expect(
            complaint(
                """
                make: {each: [a, b], run: x, outputs: ["d/{item}.o"]}
                use: {run: y, inputs: ["d/*.o"]}
                """) == [
                    "w:3:26: error: 'use' reads 'd/*.o', which 'make[a]' makes, and does not wait for it; add after: make"
                ])
    }

    @Test func `a file that an operation reads and makes is no fault, and a file of another folder is none either`() {
        #expect(complaint("fmt: {run: x, inputs: [a], outputs: [a]}") == [])
        #expect(
            complaint("a: {run: x, directory: d, outputs: [gen]}\nb: {run: y, inputs: [gen]}\n") == [])
        #expect(complaint("a: {run: x, directory: d, outputs: [gen]}\nb: {run: y, inputs: [d/gen]}").count == 1)
    }
}
