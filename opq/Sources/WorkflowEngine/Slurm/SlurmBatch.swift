/// The tasks that one call of `sbatch` submits: one job, or an array of jobs for members of a family. Several tasks may share a job.
struct SlurmBatch: Equatable, Sendable {
    /// The name of the job: that of the operation, or that of the family.
    let name: String
    let options: SlurmOptions
    /// The number of tasks that share a job.
    var share = 1
    /// The positions of the tasks in the list that was divided. The position in this array is the index of the task.
    let tasks: [Int]

    /// A task that is about to be submitted.
    struct Member {
        let name: String
        let family: String
        let options: SlurmOptions
        /// The largest number of tasks that share a job.
        var share = 1
    }

    /// Divides tasks into batches. Members of one family with the same options share an array.
    ///
    /// - Parameter largest: The number of jobs in an array: `MaxArraySize`, which limits the index and not the count.
    static func divide(_ tasks: [Member], largest: Int) -> [SlurmBatch] {
        struct Key: Hashable {
            let family: ByteKey
            let options: SlurmOptions
            let share: Int
        }
        var order: [Key] = []
        var groups: [Key: [Int]] = [:]
        for (index, task) in tasks.enumerated() {
            let key = Key(family: ByteKey(task.family), options: task.options, share: task.share)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(index)
        }
        return order.flatMap { key in
            let group = groups[key] ?? []
            let share = min(max(key.share, 1), group.count)
            // A limit of tasks that is too large to be a number does not exist.
            let (product, overflows) = max(largest, 1).multipliedReportingOverflow(by: share)
            let size = overflows ? group.count : product
            return stride(from: 0, to: group.count, by: size).map { start in
                let part = Array(group[start..<min(group.count - start, size) + start])
                let name = part.count == 1 ? tasks[part[0]].name : key.family.text
                return SlurmBatch(name: name, options: key.options, share: min(share, part.count), tasks: part)
            }
        }
    }

    /// Returns a line for each family whose queue starts fewer commands at a time than may share a job.
    ///
    /// - Parameter jobs: The concurrency limit of queues for which the file sets none.
    static func notes(_ plan: WorkflowPlan, jobs: Int) -> [String] {
        let limits = Dictionary(uniqueKeysWithValues: plan.queues.map { ($0.name, $0.concurrency(jobs: jobs)) })
        let counts = Dictionary(grouping: plan.operations, by: { ByteKey($0.family) }).mapValues(\.count)
        var seen: Set<ByteKey> = []
        return plan.operations.compactMap { operation in
            let batch = operation.settings.batch
            guard batch > 1, let limit = limits[operation.queue], limit < batch,
                operation.growth != nil || limit < counts[ByteKey(operation.family)] ?? 0,
                seen.insert(ByteKey(operation.family)).inserted
            else {
                return nil
            }
            let commands = limit == 1 ? "1 command" : "\(limit) commands"
            return "'\(operation.family)' has batch: \(batch), and its queue starts \(commands) at a time, "
                + "so no job has more"
        }
    }

    /// Returns the arguments of `sbatch`.
    ///
    /// - Parameters:
    ///   - batch: The name of the folder of the batch in `folder`.
    ///   - jobs: The indices of the jobs that are submitted.
    ///   - script: The path of the script of all jobs.
    func arguments(batch: String, in folder: String, jobs: Set<Int>, script: String) -> [String] {
        var arguments = [
            "sbatch", "--parsable", "--job-name=\(Self.jobName(name))", "--comment=\(SlurmPlace.commentPrefix)\(batch)",
            // A job that Slurm starts again would run the command twice.
            "--no-requeue", "--export=ALL", "--input=/dev/null", "--output=/dev/null", "--error=/dev/null",
            "--chdir=\(folder)",
        ]
        if Self.isArray(jobs) { arguments.append("--array=\(Self.ranges(jobs))") }
        arguments += options.arguments(commands: share) + [script, "\(folder)/\(batch)", "\(share)"]
        // opq may itself run in a job array, whose index its jobs inherit.
        return arguments + (Self.isArray(jobs) ? [] : ["0"])
    }

    /// Whether jobs with these indices are submitted as an array. Without an array, Slurm shows no index.
    static func isArray(_ jobs: Set<Int>) -> Bool { jobs != [0] }

    /// Returns a list of indices in the form of `--array`: `0-5,8`.
    static func ranges(_ indices: Set<Int>) -> String {
        var ranges: [ClosedRange<Int>] = []
        for index in indices.sorted() {
            if let last = ranges.last, last.upperBound + 1 == index {
                ranges[ranges.count - 1] = last.lowerBound...index
            } else {
                ranges.append(index...index)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }

    /// The name with plain characters only, so that other tools can show it.
    private static func jobName(_ name: String) -> String {
        String(decoding: name.utf8.prefix(60).map { $0 > 32 && $0 < 127 ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}
