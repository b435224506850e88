import Operations

/// A program for tools that count instructions: `InstructionCounts KIND COUNT`. It runs COUNT operations of one kind through a
/// serial queue, and does as little else as possible. Without arguments it prints the kinds.
@main
struct InstructionCounts {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 1 { return Kind.allCases.forEach { print($0.rawValue) } }
        guard arguments.count == 3, let kind = Kind(rawValue: arguments[1]), let count = Int(arguments[2]) else {
            fatalError("usage: InstructionCounts KIND COUNT")
        }
        kind.run(count)
    }
}
