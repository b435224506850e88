/// A shell command in which variables stand for the placeholders.
///
/// The value of a placeholder never becomes a part of the text that the shell parses, so the shell runs no value as code. All
/// members of a family have the same text.
struct CommandTemplate {
    /// A placeholder at a place where the shell expands no variable, or where a shell evaluates the value of a variable.
    struct Misplaced: Equatable {
        let placeholder: String
        let obstacle: ShellObstacle
    }

    /// The command.
    private(set) var command = ""
    /// The placeholders at places where no variable can stand for them.
    private(set) var misplaced: [Misplaced] = []

    /// Creates a command from a template. O(length).
    init(_ template: Template) {
        if template.pieces.count == 1, case .text(let text) = template.pieces[0] {
            command = text
            return
        }
        var scanner = ShellScanner()
        for piece in template.pieces {
            switch piece {
            case .text(let text):
                scanner.pass(text)
                command += text
            case .placeholder(let name):
                let variable = Item.variable(of: name)
                switch scanner.place {
                case .success(.word): command += "\"$\(variable)\""
                case .success(.quoted): command += "${\(variable)}"
                case .success(.comment): command += "{\(name)}"
                case .failure(let obstacle): misplaced.append(Misplaced(placeholder: name, obstacle: obstacle))
                }
                scanner.passValue()
            }
        }
        scanner.end()
        guard let obstacle = scanner.obstacleOfText else { return }
        misplaced = template.placeholders.map { Misplaced(placeholder: $0, obstacle: obstacle) }
    }
}
