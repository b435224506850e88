/// The options of `sbatch` for an operation.
struct SlurmOptions: Hashable, Sendable {
    /// The resources that Slurm gives, and not this machine.
    static let ownResources: Set<String> = ["memory", "cpus", "gpu"]

    /// The options, without those that each job has.
    let arguments: [String]

    /// Creates the options of an operation.
    ///
    /// - Parameter totals: The resources with a total in the workflow. opq limits them itself, unless they are those of nodes.
    init(_ operation: PlannedOperation, totals: Set<String>) {
        var arguments: [String] = []
        let settings = operation.settings
        for (name, amount) in settings.resources.sorted(by: { $0.key < $1.key }) where amount > 0 {
            switch name {
            // Slurm counts in MiB.
            case "memory": arguments.append("--mem=\(max((amount - 1) >> 20 + 1, 1))M")
            case "cpus": arguments.append("--cpus-per-task=\(amount)")
            case "gpu": arguments.append("--gres=gpu:\(amount)")
            default: if !totals.contains(name) { arguments.append("--gres=\(name):\(amount)") }
            }
        }
        if let limit = settings.timeout {
            // Slurm counts in minutes. Its own limit is only for a job whose script does not run any more.
            let seconds = Int((limit + (settings.grace ?? ProcessGroup.grace)) / .seconds(1))
            arguments.append("--time=\(seconds / 60 + 2)")
        }
        // The user's own options come last, because the last one of an option counts.
        self.arguments = arguments + settings.slurm
    }

    /// The options that opq needs itself, each with its short form.
    private static let reserved: [String: Character?] = [
        "array": "a", "chdir": "D", "clusters": "M", "comment": nil, "dependency": "d", "error": "e", "export": nil,
        "export-file": nil, "help": "h", "hold": "H", "input": "i", "job-name": "J", "kill-on-invalid-dep": nil,
        "no-requeue": nil, "output": "o", "parsable": nil, "quiet": "Q", "requeue": nil, "test-only": nil, "usage": nil,
        "version": "V", "wait": "W", "wrap": nil,
    ]

    /// Returns the reason why a value of the key `slurm` cannot be passed to `sbatch`. `nil` for other values.
    static func fault(in option: String) -> String? {
        if option.hasPrefix("--") {
            let name = String(option.dropFirst(2).prefix { $0 != "=" })
            // sbatch permits abbreviations of long options.
            let isReserved = reserved.keys.contains { $0 == name || name.count > 2 && $0.hasPrefix(name) }
            return name.isEmpty ? "it is no option" : isReserved ? "opq sets --\(name) itself" : nil
        }
        guard option.hasPrefix("-"), let letter = option.dropFirst().first else { return "it does not begin with '-'" }
        return reserved.values.contains(letter) ? "opq sets -\(letter) itself" : nil
    }
}
