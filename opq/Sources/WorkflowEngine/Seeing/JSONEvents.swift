/// The events of a run as lines of JSON. Each line is an object with the key `event`.
public enum JSONEvents {
    /// The number of bytes of the output of a command that an event has at most: the last ones.
    private static let outputLimit = 64 * 1024

    /// Returns the line for an event.
    public static func line(for event: RunEvent) -> String {
        switch event {
        case .started(let operation): object([("event", "started"), ("name", operation.name)])
        case .ended(let conclusion, let spool): ended(conclusion, spool)
        case .short(let text): object([("event", "short"), ("text", text)])
        case .explained(let operation, let reason):
            object([("event", "explained"), ("name", operation.name), ("reason", reason)])
        case .retrying(let operation, let text):
            object([("event", "retrying"), ("name", operation.name), ("text", text)])
        case .expanded(let family, let members):
            object([("event", "expanded"), ("name", family.name), ("count", "\(members.count)")])
        case .familyEnded(let family): object([("event", "familyEnded"), ("name", family.name)])
        case .output(let operation, _): line(forOutput: "", of: operation.name)
        }
    }

    /// Returns the line for output of a running command.
    public static func line(forOutput text: String, of name: String) -> String {
        object([("event", "output"), ("name", name), ("text", text)])
    }

    /// Returns the line for the end of the run.
    public static func line(for result: RunResult) -> String {
        var counts: [String: Int] = [:]
        for conclusion in result.conclusions { counts[kind(of: conclusion), default: 0] += 1 }
        let numbers = counts.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\($0.value)" }
        return "{\"event\":\"finished\",\"seconds\":\(seconds(result.wallTime)),"
            + "\"counts\":{\(numbers.joined(separator: ","))}}"
    }

    private static func ended(_ conclusion: Conclusion, _ spool: OutputSpool?) -> String {
        var values = [("event", "ended"), ("name", conclusion.name), ("outcome", kind(of: conclusion))]
        switch conclusion.outcome {
        case .failed(let failure): values.append(("reason", RunReport.text(of: failure)))
        case .skipped(let reason), .unneeded(let reason): values.append(("reason", reason))
        case .succeeded, .upToDate, .cancelled: break
        }
        if let spool, !spool.isEmpty, let bytes = try? spool.tail(byteCount: outputLimit) {
            values.append(("output", String(decoding: bytes, as: UTF8.self)))
        }
        let text = object(values)
        guard let duration = conclusion.duration else { return text }
        return text.dropLast() + ",\"seconds\":\(seconds(duration))}"
    }

    private static func kind(of conclusion: Conclusion) -> String {
        switch conclusion.outcome {
        case .succeeded: "succeeded"
        case .upToDate: "upToDate"
        case .failed: conclusion.isTolerated ? "failedAsItMay" : "failed"
        case .skipped: "skipped"
        case .unneeded: "unneeded"
        case .cancelled: "cancelled"
        }
    }

    private static func object(_ values: [(String, String)]) -> String {
        "{" + values.map { "\(quoted($0)):\(quoted($1))" }.joined(separator: ",") + "}"
    }

    private static func seconds(_ duration: Duration) -> String { String(duration.seconds.dropLast()) }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
