/// A shell command with placeholders at places where a value stays unchanged.
///
/// The shell gets a value through a variable, and does not read the value as part of the command. At places where a shell
/// evaluates the word itself, placeholders are refused. Examples are `[[ … -eq … ]]` and the arguments of `let` in bash.
/// Plain values consist of letters, digits and a few marks. They are inserted into the command itself, which keeps the
/// command easy to read.
struct CommandTemplate {
    private enum Piece {
        case text(String)
        case placeholder(String, ShellPlace)
    }

    /// A placeholder at a place where the shell could run its value as code.
    struct Misplaced: Equatable {
        let placeholder: String
        let obstacle: ShellObstacle
    }

    private var pieces: [Piece] = []
    /// The placeholders whose values cannot be quoted at their places.
    private(set) var misplaced: [Misplaced] = []

    /// Creates a command from a template, and finds the places of the placeholders.
    init(_ template: Template) {
        var scanner = ShellScanner()
        var left = template.placeholders.count
        for piece in template.pieces {
            switch piece {
            case .text(let text):
                // Text without a later placeholder need not be scanned.
                if left > 0 { scanner.pass(text) }
                pieces.append(.text(text))
            case .placeholder(let name):
                left -= 1
                do throws(ShellObstacle) {
                    pieces.append(.placeholder(name, try scanner.place))
                } catch {
                    misplaced.append(Misplaced(placeholder: name, obstacle: error))
                }
                scanner.passValue()
            }
        }
        guard ShellArguments.declaresEvaluated(template.text(for: nil)) else { return }
        misplaced = template.placeholders.map { Misplaced(placeholder: $0, obstacle: .declaration) }
    }

    /// Returns the command for an item.
    func command(for item: Item?) -> String {
        pieces.reduce(into: "") { command, piece in
            switch piece {
            case .text(let text): command += text
            case .placeholder(let name, let place):
                command += Self.text(of: name, for: item, at: place, mayBePlain: Self.mayBePlain(after: command))
            }
        }
    }

    /// Returns whether a plain value after this text has no special meaning. After a brace, the value may become a list of
    /// alternatives. After a letter, a digit or an underscore, the value may become part of a variable name. After a tilde,
    /// the value may become a user name.
    private static func mayBePlain(after command: String) -> Bool {
        switch command.utf8.last ?? 0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "{"):
            false
        default: true
        }
    }

    private static func text(of name: String, for item: Item?, at place: ShellPlace, mayBePlain: Bool) -> String {
        guard let value = item?.value(of: name), let variable = Item.variable(of: name) else { return "{\(name)}" }
        let isPlain = mayBePlain && Self.isPlain(value)
        return switch place {
        case .comment: "{\(name)}"
        case .hereDocument: "${\(variable)}"
        case .word: isPlain ? value : "\"${\(variable)}\""
        case .doubleQuotes: isPlain ? value : "${\(variable)}"
        case .singleQuotes: isPlain ? value : "'\"${\(variable)}\"'"
        }
    }

    /// Returns whether a value has no special meaning at any place: the value is no assignment, no reserved word, and no
    /// number before a redirection.
    private static func isPlain(_ value: String) -> Bool {
        var hasMark = false
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                continue
            case UInt8(ascii: "."), UInt8(ascii: "/"): hasMark = true
            default: return false
            }
        }
        return hasMark
    }
}
