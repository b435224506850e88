/// The options of `sbatch` for an operation.
struct SlurmOptions: Hashable, Sendable {
    /// The resources that Slurm gives, and not this machine.
    static let ownResources: Set<String> = ["memory", "cpus", "gpu"]

    /// The time that the script of a job needs after a command, to end processes that are left.
    private static let cleanup = Duration.seconds(4)

    private let resources: [String]
    /// The longest time of one command. `nil` without a limit.
    private let time: Duration?
    private let own: [String]

    /// Creates the options of an operation.
    ///
    /// - Parameters:
    ///   - grace: The time that the command gets to end after its time limit.
    ///   - totals: The resources with a total in the workflow. opq limits them itself, unless they are those of nodes.
    init(_ operation: PlannedOperation, grace: Duration = ProcessGroup.grace, totals: Set<String>) {
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
        resources = arguments
        time = settings.timeout.map { $0 + (settings.grace ?? grace) + Self.cleanup }
        own = settings.slurm
    }

    /// Returns the options of a job, without those that each job has.
    ///
    /// - Parameter commands: The number of commands that the job runs one after another.
    func arguments(commands: Int) -> [String] {
        // Slurm counts in minutes. Its own limit is only for a job whose script does not run any more.
        let limit = time.map { ["--time=\(Int($0 * commands / .seconds(1)) / 60 + 2)"] } ?? []
        // The user's own options come last, because the last one of an option counts.
        return resources + limit + own
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
