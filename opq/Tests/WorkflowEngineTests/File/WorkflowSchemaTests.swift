import Foundation
import Testing

@testable import WorkflowEngine

struct WorkflowSchemaTests {
    @Test func `the schema is JSON, and has the keys that the parser knows`() throws {
        let schema = try #require(
            try JSONSerialization.jsonObject(with: Data(WorkflowSchema.text.utf8)) as? [String: Any])
        let keys = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(keys.keys.sorted() == KeyTable.workflow.names.filter { !WorkflowParser.pending.contains($0) }.sorted())
        let operations = try #require(keys["operations"]?["additionalProperties"] as? [String: Any])
        let operation = try #require(operations["properties"] as? [String: [String: Any]])
        #expect(
            operation.keys.sorted() == KeyTable.operation.names.filter { !WorkflowParser.pending.contains($0) }.sorted()
        )
        #expect(operation["priority"]?["enum"] as? [String] == Priority.allCases.map(\.rawValue))
        #expect(operations["additionalProperties"] as? Bool == false)
    }

    @Test(arguments: ["workflow", "queue", "operation", "source", "retries"])
    func `every key of the tables has an effect, or a message that it has none`(name: String) throws {
        let tables = [
            "workflow": KeyTable.workflow, "queue": .queue, "operation": .operation, "source": .source,
            "retries": .retries,
        ]
        let table = try #require(tables[name])
        for key in table.names {
            let text =
                switch name {
                case "workflow": "\(key): {z: 1}\noperations: {b: {run: x}}"
                case "queue": "queues: {q: {\(key): [1]}}\noperations: {a: {run: x}}"
                case "source": "operations: {a: {run: x, each: {\(key): {z: 1}}}}"
                case "retries": "operations: {a: {run: x, retries: {\(key): {z: 1}}}}"
                default: "operations: {a: {run: x, \(key): {z: 1}}}"
                }
            // A key that the parser does not know would stop it, and a key of a wrong type is an error.
            #expect(
                !complaints(about: text).isEmpty
                    || ["vars", "environment", "matrix", "queues", "operations", "resources"].contains(key),
                "\(key)")
        }
    }
}
