import Foundation
import OperationsNetworking
import Testing

/// All faults in all phases of a transfer (rules R3, R4, R7, R8, R10, R12 and D1).
///
/// With `OPERATIONS_PRINT_FAULTS` set, the test prints the table of outcomes in Markdown to the standard output.
@Suite(.timeLimit(.minutes(5))) struct FaultMatrixTests {
    @Test func `every fault in every phase ends once, with its reason, and leaves nothing behind`() async throws {
        var table: [FaultCell: String] = [:]
        for cell in FaultCell.all {
            if case .cannotBe = cell.expected {
                table[cell] = "–"
                continue
            }
            var outcomes: Set<String> = []
            for target in FaultScene.targets(of: cell) {
                let report = try await FaultScene(cell: cell, target: target).play()
                outcomes.insert(report.outcome)
                let place: Comment = "\(cell), \(target.rawValue): \(report)"
                switch cell.expected {
                case .fails(let reasons): #expect(reasons.contains(report.outcome), place)
                case .succeeds: #expect(report.outcome == "ends well", place)
                case .cannotBe: break
                }
                #expect(report.completions == 1, place)
                if let state = report.pausedState { #expect(state == .paused, place) }
                // Only a complete file has the final name, and a part always has its note.
                let left: [[String]] = report.reason == nil ? [[], ["x"]] : [[], [".x.part", ".x.part.json"]]
                #expect(left.contains(report.files), place)
                #expect(target == .download || report.files.isEmpty, place)
            }
            table[cell] = outcomes.sorted().joined(separator: ", ")
        }
        #expect(FaultCell.all.allSatisfy { table[$0]?.isEmpty == false })
        if ProcessInfo.processInfo.environment["OPERATIONS_PRINT_FAULTS"] != nil { print(Self.markdown(table)) }
    }

    private static func markdown(_ table: [FaultCell: String]) -> String {
        func row(_ columns: [String]) -> String { "| " + columns.joined(separator: " | ") + " |" }
        var lines = [
            row(["phase"] + FaultKind.allCases.map(\.rawValue)),
            row(Array(repeating: "---", count: FaultKind.allCases.count + 1)),
        ]
        var reasons: [String] = []
        for phase in FaultPhase.allCases {
            let cells = FaultKind.allCases.map { kind -> String in
                let cell = FaultCell(phase: phase, kind: kind)
                guard case .cannotBe(let reason) = cell.expected else { return table[cell] ?? "" }
                if !reasons.contains(reason) { reasons.append(reason) }
                return "–\((reasons.firstIndex(of: reason) ?? 0) + 1)"
            }
            lines.append(row([phase.rawValue] + cells))
        }
        lines.append("")
        lines += reasons.enumerated().map { "–\($0 + 1): impossible, because \($1)." }
        return lines.joined(separator: "\n")
    }
}
