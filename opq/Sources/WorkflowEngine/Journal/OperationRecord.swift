/// The parts of an operation that decide its effect, apart from files. Values of variables are kept as digests.
struct Fingerprint: Hashable, Sendable {
    let command: Digest
    let shell: Digest
    let directory: String
    /// The variables that the workflow adds, sorted by their names, with digests of their values.
    let environment: [Variable]

    struct Variable: Hashable, Sendable {
        let name: String
        let value: Digest
    }

    /// Creates the fingerprint of an operation of a plan.
    ///
    /// - Parameter base: The directory of the workflow file. The fingerprint does not depend on the place of that directory.
    init(_ operation: PlannedOperation, base: String) {
        command = Digest(of: operation.program ?? [operation.command])
        shell = Digest(of: operation.program == nil ? operation.settings.shell.arguments(for: "") : [])
        let prefix = base + "/"
        directory =
            operation.directory.hasSameBytes(as: base)
            ? "."
            : operation.directory.hasPrefix(prefix)
                ? String(operation.directory.dropFirst(prefix.count)) : operation.directory
        environment = operation.variables.map { Variable(name: $0, value: Digest(of: [$1])) }
            .sorted { $0.name.bytesPrecede($1.name) }
    }

    init(command: Digest, shell: Digest, directory: String, environment: [Variable]) {
        (self.command, self.shell, self.directory, self.environment) = (command, shell, directory, environment)
    }

    /// A digest of all parts. An operation that was renamed keeps it.
    var digest: Digest {
        var parts = [command, shell].flatMap { [String($0.first), String($0.second)] } + [directory]
        for variable in environment {
            parts += [variable.name, String(variable.value.first), String(variable.value.second)]
        }
        return Digest(of: parts)
    }
}

/// The record of the last run of an operation.
struct OperationRecord: Equatable, Sendable {
    /// How the last run ended.
    enum End: UInt8, Sendable { case succeeded, failed, cancelled, unknown }

    let name: String
    let fingerprint: Fingerprint
    var end: End
    /// The inputs before the command ran, and the files of the depfile. Sorted by the bytes of the paths.
    var inputs: [FileRecord] = []
    /// The outputs after the command ran. Sorted by the bytes of the paths.
    var outputs: [FileRecord] = []
    /// The inputs that only the depfile lists. They are part of `inputs`.
    var listed: [String] = []
    /// The captured output. `nil` if the output was not captured, or contains a secret.
    var captured: String?
}

extension [FileRecord] {
    /// The records in the order of the bytes of their paths, each path once.
    var sortedByPath: [FileRecord] {
        if count < 2 { return self }
        let sorted = self.sorted { $0.path.bytesPrecede($1.path) }
        return sorted.indices.filter { $0 == 0 || !sorted[$0].path.hasSameBytes(as: sorted[$0 - 1].path) }
            .map { sorted[$0] }
    }
}
