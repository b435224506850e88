import Foundation
import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

struct WorkflowLoaderTests {
    private func write(_ files: [String: String], _ directory: TemporaryDirectory) throws {
        for (name, text) in files {
            try text.write(toFile: directory.path + "/" + name, atomically: true, encoding: .utf8)
        }
    }

    @Test func `an included file adds its operations and queues, and its paths are relative to it`() throws {
        let directory = try TemporaryDirectory(files: ["sub/x.c"])
        try write(
            [
                "opq.yml": """
                include: [sub/more.yml]
                vars: {mode: debug}
                queues: {q: {concurrency: 1}}
                operations: {a: {run: "x {mode}", after: [b, c]}}
                """,
                "sub/more.yml": """
                include: even.yml
                shell: bash
                vars: {mode: other, level: 3}
                queues: {q: {concurrency: 7}, r: }
                operations: {b: {run: "x {level}", queue: r, each: "*.c", directory: .}}
                """,
                "sub/even.yml": "operations: {c: {run: x}}",
            ], directory)
        let file = WorkflowFile(at: FilePath(directory.path + "/opq.yml"))
        let plan = try #require(file.plan, "\(file.diagnostics)")
        #expect(plan.operations.map(\.name) == ["a", "b[x.c]", "c"])
        #expect(
            plan.operations.map(\.directory) == [directory.path, directory.path + "/sub/.", directory.path + "/sub"])
        #expect(plan.operations.map(\.settings.shell) == [.standard, .posix("bash"), .standard])
        #expect(plan.operations[0].variables == ["OPQ_MODE": "debug"])
        #expect(plan.queues.map(\.concurrency) == [1, nil, nil])
    }

    @Test func `the errors of an included file have its name, and a repeated operation is an error`() throws {
        let directory = try TemporaryDirectory()
        try write(
            [
                "opq.yml": "include: [none.yml, more.yml]\noperations: {a: {run: x}}",
                "more.yml": "operations:\n  a: {run: y}\n  b: {rnu: x}",
            ], directory)
        let more = directory.path + "/more.yml"
        #expect(
            WorkflowFile(at: FilePath(directory.path + "/opq.yml")).diagnostics.map { $0.line(in: "opq.yml") } == [
                "opq.yml:1:11: error: cannot read 'none.yml': No such file or directory",
                "\(more):2:3: error: duplicate operation 'a'; the including file contains it in line 2: rename one of them",
                "\(more):3:3: error: operation 'b' has no 'run'; give it the shell command to run",
                "\(more):3:7: error: unknown key 'rnu' in operation 'b'; did you mean 'run'?",
            ])
    }

    @Test func `a file of variables sets those that the process does not have`() throws {
        let directory = try TemporaryDirectory()
        try write([".env": "OPQ_T_A=1\nHOME=/nowhere\nnonsense\n", "other": "OPQ_T_B=2\n", "bad": "x\n"], directory)
        func variables(_ text: String) throws -> [String: String] {
            let file = WorkflowFile(text, base: directory.path)
            return try #require(file.plan, "\(file.diagnostics)").operations[0].variables
        }
        #expect(try variables("operations: {a: {run: x}}") == ["OPQ_T_A": "1"])
        #expect(try variables("environment: {OPQ_T_A: 3}\noperations: {a: {run: x}}") == ["OPQ_T_A": "3"])
        #expect(try variables("dotenv: other\noperations: {a: {run: x}}") == ["OPQ_T_B": "2"])
        #expect(try variables("dotenv: false\noperations: {a: {run: x}}") == [:])
        let wrong = WorkflowFile("dotenv: [bad, none]\noperations: {a: {run: x}}", base: directory.path)
        #expect(
            wrong.diagnostics.map { $0.line(in: "w") } == [
                "w:1:10: error: line 1 of 'bad' sets no variable; write NAME=VALUE",
                "w:1:15: error: cannot read 'none': No such file or directory",
            ])
    }

    @Test func `a wrong line of a file of variables that exists by itself is a warning`() throws {
        let directory = try TemporaryDirectory()
        try write([".env": "OPQ_T_A=1\nnonsense\n"], directory)
        let file = WorkflowFile("operations: {a: {run: x}}", base: directory.path)
        #expect(
            file.diagnostics.map { $0.line(in: "w") } == [
                "w: warning: line 2 of '.env' sets no variable; write NAME=VALUE"
            ])
    }

    @Test func `a file that includes itself is an error, and a file that two others include is not`() throws {
        let directory = try TemporaryDirectory()
        try write(
            [
                "opq.yml": "include: [a.yml, b.yml]\noperations: {o: {run: x}}",
                "a.yml": "include: c.yml\noperations: {a: {run: x}}",
                "b.yml": "include: c.yml\noperations: {b: {run: x}}",
                "c.yml": "operations: {c: {run: x}}",
            ], directory)
        let path = FilePath(directory.path + "/opq.yml")
        #expect(WorkflowFile(at: path).plan?.operations.count == 4)
        try write(["c.yml": "include: opq.yml\noperations: {c: {run: x}}"], directory)
        #expect(
            WorkflowFile(at: path).diagnostics.map { $0.line(in: "w") } == [
                "\(directory.path)/c.yml:1:10: error: 'opq.yml': the file includes itself, directly or through others; "
                    + "remove one include"
            ])
    }

    @Test func `only regular files are included, and a stream has a limit`() throws {
        let directory = try TemporaryDirectory()
        #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
        let file = WorkflowFile(
            "include: [/dev/zero, pipe]\ndotenv: [/dev/zero, pipe]\noperations: {a: {run: x}}", base: directory.path)
        #expect(
            file.diagnostics.map { $0.line(in: "w") } == [
                "w:1:11: error: '/dev/zero': it is not a regular file",
                "w:1:22: error: 'pipe': it is not a regular file",
                "w:2:10: error: cannot read '/dev/zero': it is not a regular file",
                "w:2:21: error: cannot read 'pipe': it is not a regular file",
            ])
        #expect(WorkflowFile(at: "/dev/zero").diagnostics.map(\.message) == ["the file has more than 64 MiB"])
    }
}
