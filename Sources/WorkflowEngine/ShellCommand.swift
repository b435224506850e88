internal import Subprocess
import SystemPackage

/// The command of an operation, run by `/bin/sh -c` as the leader of a process group of its own.
struct ShellCommand: Sendable {
    /// The operation the command is of.
    let operation: PlannedOperation

    /// Runs the command, and ends what it leaves running in its group.
    ///
    /// When the task is cancelled the group is sent `SIGTERM` and, after ``ProcessGroup/grace``, `SIGKILL`.
    ///
    /// - Parameters:
    ///   - spool: Takes all that the command prints.
    ///   - started: Called once the command runs.
    ///   - deadline: Called once it has ended, for the time until which the rest of its group may linger.
    /// - Returns: How it ended.
    func run(
        into spool: OutputSpool, started: @Sendable (ProcessGroup) -> Void,
        deadline: @Sendable () -> ContinuousClock.Instant
    ) async -> Outcome {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: ProcessGroup.grace)
        ]
        let variables = operation.environment.map { (Environment.Key(stringLiteral: $0), Optional($1)) }
        do {
            let result = try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", operation.command],
                environment: .inherit.updating(Dictionary(uniqueKeysWithValues: variables)),
                workingDirectory: FilePath(operation.directory), platformOptions: options, input: .none,
                output: .fileDescriptor(spool.file, closeAfterSpawningProcess: false), error: .combinedWithOutput
            ) { execution in
                started(ProcessGroup(identifier: execution.processIdentifier.value))
            }
            // The teardown above stops at the death of the leader; its children may have ignored the signal.
            await ProcessGroup(identifier: result.processIdentifier.value).end(by: deadline())
            return switch result.terminationStatus {
            case .exited(0): .succeeded
            case .exited(let status): .failed(.exit(status))
            case .signaled(let number): .failed(.signal(number))
            }
        } catch let error as SubprocessError {
            return .failed(.unstartable(text(of: error)))
        } catch {
            return .failed(.unstartable("\(error)"))
        }
    }

    private func text(of error: SubprocessError) -> String {
        if error.code == .failedToChangeWorkingDirectory { return "there is no directory '\(operation.directory)'" }
        return error.underlyingError.map { "\($0)" } ?? "\(error)"
    }
}
