// A pipeline with failures: each file is read, then parsed, then stored. A failure skips the later steps of its file only.

import Operations

enum PipelineError: Error { case unreadable, malformed }

@main struct Pipeline {
    static func main() async {
        let reading = OperationQueue(name: "reading", maxConcurrentOperationCount: 4)
        let parsing = OperationQueue(name: "parsing", maxConcurrentOperationCount: 2)
        let storing = OperationQueue(name: "storing", maxConcurrentOperationCount: 1)
        var steps: [(file: Int, stored: TaskOperation<String>)] = []
        for file in 1...9 {
            let read = reading.addTask(name: "read \(file)") { () -> String in
                if file == 3 { throw PipelineError.unreadable }
                return "text \(file)"
            }
            let parsed = parsing.addTask(name: "parse \(file)", after: [read]) { () -> [Substring] in
                let text = try await read.value
                if file == 7 { throw PipelineError.malformed }
                return text.split(separator: " ")
            }
            let stored = storing.addTask(name: "store \(file)", after: [parsed]) { () -> String in
                let words = try await parsed.value
                return "file \(file): \(words.count) words"
            }
            steps.append((file, stored))
        }
        var errors: [Int: String] = [:]
        for (file, stored) in steps {
            switch await stored.result {
            case .success(let text): print(text)
            case .failure(let error): errors[file] = "\(error)"
            }
        }
        print("failed: \(errors.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }.joined(separator: ", "))")
        precondition(errors == [3: "unreadable", 7: "malformed"])
    }
}
