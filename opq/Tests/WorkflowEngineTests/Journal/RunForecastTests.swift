import Foundation
import Testing

@testable import WorkflowEngine

struct RunForecastTests {
    @Test func `a forecast has the operations that run, with reasons, and writes nothing`() async throws {
        let directory = try TemporaryDirectory(files: ["a.c", "b.c", "notes"])
        let text = """
            operations:
              cc: { each: [a.c, b.c], run: "cp {item} {item}.o", inputs: ["{item}"], outputs: ["{item}.o"] }
              link: { after: cc, run: "cat *.o > app", inputs: ["*.o"], outputs: [app] }
              docs: { run: "cp notes page", inputs: [notes], outputs: [page] }
              broken: { after: link, run: "true", when: failure }
            """
        let file = directory.path + "/w.yml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let plan = try #require(WorkflowFile(text, base: directory.path).plan)
        func forecast(isForced: Bool = false) throws -> [String] {
            try RunForecast(of: plan, workflow: file, isForced: isForced, resumes: false).entries
                .map { "\($0.operation.name): \($0.reason)" }
        }
        let all = ["cc[a.c]", "cc[b.c]", "link", "docs"]
        #expect(try forecast() == all.map { "\($0): no success is recorded" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 4)
        var options = RunOptions(jobs: 2)
        options.store = try RunStore(of: file)
        _ = try await outcomes(of: text, in: directory, options: options)
        options.store = nil
        #expect(try forecast().isEmpty)
        #expect(try forecast(isForced: true) == all.map { "\($0): --force" })
        try "new".write(toFile: directory.path + "/b.c", atomically: true, encoding: .utf8)
        #expect(try forecast() == ["cc[b.c]: the input b.c changed", "link: cc[b.c] makes an input"])
    }
}
