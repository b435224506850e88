import Foundation
import Testing

@testable import WorkflowEngine

struct WorkflowGraphTests {
    private static let text = """
        name: 'a "b"'
        operations:
          cc: { each: [a, b, c], run: "cc {item}" }
          link: { after: cc, run: "ld" }
          'x<y': { after: [link, cc], run: "check" }
        """

    @Test func `a family is one node, and each node is linked with those that it waits for`() throws {
        let plan = try plan(of: Self.text)
        let graph = WorkflowGraph(of: plan)
        #expect(graph.nodes.map(\.label) == ["cc (3)", "link", "x<y"])
        #expect(graph.edges.map { [$0.from, $0.to] } == [[0, 1], [1, 2], [0, 2]])
        let items = WorkflowGraph(of: plan, showsItems: true)
        #expect(items.nodes.map(\.label) == ["cc[a]", "cc[b]", "cc[c]", "link", "x<y"])
        #expect(items.edges.count == 7)
        #expect(
            graph.text(as: .dot) == """
                digraph "a \\"b\\"" {
                  rankdir=LR;
                  node [shape=box];
                  n0 [label="cc (3)"];
                  n1 [label="link"];
                  n2 [label="x<y"];
                  n0 -> n1;
                  n1 -> n2;
                  n0 -> n2;
                }
                """)
        #expect(
            graph.text(as: .mermaid) == """
                flowchart LR
                  n0["cc (3)"]
                  n1["link"]
                  n2["x#lt;y"]
                  n0 --> n1
                  n1 --> n2
                  n0 --> n2
                """)
    }

    @Test func `an image is XML, and follows the scheme of the reader`() throws {
        let svg = WorkflowGraph(of: try plan(of: Self.text)).text(as: .svg)
        #expect(svg.contains("prefers-color-scheme: dark"))
        #expect(svg.contains(">x&lt;y</text>"))
        #expect(svg.components(separatedBy: "<rect").count == 4)
        #expect("a\u{1}<&\"".escapedForXML == "a\u{FFFD}&lt;&amp;&quot;")
    }
}
