/// The tasks that one call of `sbatch` submits: one job, or an array of jobs for members of a family.
struct SlurmBatch: Equatable, Sendable {
    /// The name of the job: that of the operation, or that of the family.
    let name: String
    let options: SlurmOptions
    /// The positions of the tasks in the list that was divided. The position in this array is the index in the job array.
    let tasks: [Int]

    /// Divides tasks into batches. Members of one family with the same options share an array.
    ///
    /// - Parameter largest: The number of tasks in an array: `MaxArraySize`, which limits the index and not the count.
    static func divide(
        _ tasks: [(name: String, family: String, options: SlurmOptions)], largest: Int
    ) -> [SlurmBatch] {
        struct Key: Hashable {
            let family: ByteKey
            let options: SlurmOptions
        }
        var order: [Key] = []
        var groups: [Key: [Int]] = [:]
        for (index, task) in tasks.enumerated() {
            let key = Key(family: ByteKey(task.family), options: task.options)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(index)
        }
        return order.flatMap { key in
            let group = groups[key] ?? []
            return stride(from: 0, to: group.count, by: max(largest, 1)).map { start in
                let part = Array(group[start..<min(start + max(largest, 1), group.count)])
                let name = part.count == 1 ? tasks[part[0]].name : key.family.text
                return SlurmBatch(name: name, options: key.options, tasks: part)
            }
        }
    }

    /// Returns the arguments of `sbatch`.
    ///
    /// - Parameters:
    ///   - batch: The name of the folder of the batch in `folder`.
    ///   - indices: The indices that are submitted. An array has more than one task in all.
    ///   - script: The path of the script of all jobs.
    func arguments(batch: String, in folder: String, indices: [Int], script: String) -> [String] {
        var arguments = [
            "sbatch", "--parsable", "--job-name=\(Self.jobName(name))", "--comment=\(SlurmPlace.commentPrefix)\(batch)",
            // A job that Slurm starts again would run the command twice.
            "--no-requeue", "--export=ALL", "--input=/dev/null", "--output=/dev/null", "--error=/dev/null",
            "--chdir=\(folder)",
        ]
        if tasks.count > 1 { arguments.append("--array=\(Self.ranges(indices))") }
        // opq may itself run in a job array, whose index its jobs inherit.
        return arguments + options.arguments + [script, "\(folder)/\(batch)"] + (tasks.count > 1 ? [] : ["0"])
    }

    /// Returns a list of indices in the form of `--array`: `0-5,8`.
    static func ranges(_ indices: [Int]) -> String {
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
