import Glibc

/// The folder `slurm` of a workflow's store, through which jobs and opq exchange files. The nodes must see it by the same path.
///
/// Each batch has a folder, and in it each task: `task`, `limits` and `stop` for the job, `name`, `state` and `withdrawn` for a later
/// opq, and `claim`, `output` and `result` from the job.
struct SlurmFolder: Sendable {
    /// The reason why a file cannot be used.
    struct Failure: Error {
        let text: String
    }

    /// A task of a run whose opq was killed.
    struct Left: Equatable, Sendable {
        let place: SlurmPlace
        let name: String
        /// The state before the command, as a text.
        let state: String
        /// Whether opq has seen to it that the command never runs.
        var isWithdrawn = false
    }

    /// The absolute path.
    let path: String

    /// The path of the script of all jobs.
    var script: String { path + "/run" }

    /// Makes the folder in the store of a workflow.
    init(in store: RunStore) throws(Failure) {
        guard let absolute = store.path.withFileName({ realpath($0, nil) }) else {
            throw Failure(text: "cannot enter \(store.path): \(errorText(errno))")
        }
        path = String(fileName: Array(UnsafeRawBufferPointer(start: absolute, count: strlen(absolute)))) + "/slurm"
        free(absolute)
        try make(path)
        try write(SlurmScript.runner, to: "run")
    }

    /// Whether the store of a workflow has such a folder.
    static func exists(in store: RunStore) -> Bool { (store.path + "/slurm").withFileName { access($0, F_OK) == 0 } }

    /// Makes the folder of a new batch.
    ///
    /// - Parameters:
    ///   - run: The number of the run.
    ///   - share: The number of tasks that share a job.
    /// - Returns: The name.
    func makeBatch(run: Int, share: Int = 1) throws(Failure) -> String {
        let name = SlurmPlace.batch(run: run, share: share)
        try make("\(path)/\(name)")
        return name
    }

    /// Writes the files of a task.
    func write(_ command: ExecutedCommand, at place: SlurmPlace) throws(Failure) {
        let folder = "\(place.batch)/\(place.index)"
        try make("\(path)/\(folder)")
        let mask = umask(0)
        umask(mask)
        let operation = command.operation
        guard let directory = operation.directory.withFileName({ realpath($0, nil) }) else {
            throw Failure(text: "cannot enter the directory '\(operation.directory)': \(errorText(errno))")
        }
        defer { free(directory) }
        let text = String(fileName: Array(UnsafeRawBufferPointer(start: directory, count: strlen(directory))))
        try write(SlurmScript.task(operation, directory: text, mask: mask), to: "\(folder)/task")
        try write(SlurmScript.limits(operation, grace: command.grace), to: "\(folder)/limits")
        try write(operation.name, to: "\(folder)/name")
        try write(command.prepared?.stateText ?? "", to: "\(folder)/state")
    }

    /// Claims a task, so that no job ever starts its command. A file says so to a later opq.
    ///
    /// - Returns: `false` if a job has claimed it.
    func withdraw(_ place: SlurmPlace) -> Bool {
        guard file(place, "claim").withFileName({ mkdir($0, 0o700) }) == 0 else { return exists(place, "withdrawn") }
        makeEmpty(place, "withdrawn")
        return true
    }

    /// Asks the script of a job to end one command. It sees the file within five seconds.
    func stop(_ place: SlurmPlace) { makeEmpty(place, "stop") }

    /// Returns the files that the job of a task has written.
    func files(of place: SlurmPlace) -> SlurmTask.Files {
        var files = SlurmTask.Files()
        files.result = read(place, "result").flatMap { SlurmResult(String(decoding: $0, as: UTF8.self)) }
        var status = stat()
        if file(place, "alive").withFileName({ stat($0, &status) }) == 0 {
            files.pulse = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        }
        files.isClaimed = exists(place, "claim")
        return files
    }

    /// Adds the output of a task to a spool.
    func readOutput(of place: SlurmPlace, into spool: OutputSpool) {
        let output = file(place, "output").withFileName { open($0, O_RDONLY | O_CLOEXEC) }
        guard output >= 0 else { return }
        defer { close(output) }
        withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
            while case let count = Glibc.read(output, chunk.baseAddress, chunk.count), count > 0 {
                spool.append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
        spool.finish()
    }

    /// The tasks of all batches, those of later runs last.
    var left: [Left] {
        let batches = Self.names(in: path).filter { $0.contains("-") }
        return batches.sorted { Self.run(of: $0) < Self.run(of: $1) }.flatMap { batch in
            Self.names(in: "\(path)/\(batch)").compactMap { index in
                guard let index = Int(index) else { return nil }
                let place = SlurmPlace(batch: batch, index: index)
                guard let name = read(place, "name"), let state = read(place, "state") else { return nil }
                return Left(
                    place: place, name: String(fileName: name), state: String(decoding: state, as: UTF8.self),
                    isWithdrawn: exists(place, "withdrawn"))
            }
        }
    }

    /// Returns the number of the run that submitted a batch.
    static func run(of batch: String) -> Int { Int(batch.prefix { $0 != "-" }) ?? 0 }

    /// Removes the folder of a batch.
    func remove(_ batch: String) {
        let folder = "\(path)/\(batch)"
        for index in Self.names(in: folder) {
            for name in Self.names(in: "\(folder)/\(index)") {
                let file = "\(folder)/\(index)/\(name)"
                _ = file.withFileName { unlink($0) == 0 || rmdir($0) == 0 }
            }
            _ = "\(folder)/\(index)".withFileName { rmdir($0) }
        }
        _ = folder.withFileName { rmdir($0) }
    }

    /// Removes everything, if no batch is left.
    func removeIfEmpty() {
        guard !Self.names(in: path).contains(where: { $0.contains("-") }) else { return }
        _ = script.withFileName { unlink($0) }
        _ = path.withFileName { rmdir($0) }
    }

    // MARK: - Files

    private func file(_ place: SlurmPlace, _ name: String) -> String { "\(path)/\(place.batch)/\(place.index)/\(name)" }

    private func exists(_ place: SlurmPlace, _ name: String) -> Bool {
        file(place, name).withFileName { access($0, F_OK) == 0 }
    }

    private func makeEmpty(_ place: SlurmPlace, _ name: String) {
        let made = file(place, name).withFileName { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
        if made >= 0 { close(made) }
    }

    /// Makes a folder that other users cannot read, because the environment of a command may have secrets.
    private func make(_ folder: String) throws(Failure) {
        guard folder.withFileName({ mkdir($0, 0o700) }) == 0 || errno == EEXIST else {
            throw Failure(text: "cannot make \(folder): \(errorText(errno))")
        }
    }

    private func write(_ text: String, to name: String) throws(Failure) {
        let file = "\(path)/\(name)".withFileName { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        guard file >= 0 else { throw Failure(text: "cannot write \(path)/\(name): \(errorText(errno))") }
        defer { close(file) }
        var rest = text.fileNameBytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(text: "cannot write \(path)/\(name): \(errorText(errno))") }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ place: SlurmPlace, _ name: String) -> [UInt8]? {
        let file = file(place, name).withFileName { open($0, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = folder.withFileName({ opendir($0) }) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = entry.pointee.fileName
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension Digest {
    /// The digest in digits and letters.
    var text: String { "\(String(first, radix: 36))-\(String(second, radix: 36))" }
}
