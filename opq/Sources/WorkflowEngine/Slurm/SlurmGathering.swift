/// The time in which commands that start one after another come into one array.
enum SlurmGathering {
    private static let ofArray = Duration.milliseconds(30)
    /// A command that shares a job costs little time, and a job that is not full costs seconds.
    private static let ofSharedJob = Duration.milliseconds(250)
    /// Commands that start without end must not hold up those that started first.
    private static let longest = Duration.seconds(2)

    /// Returns the time to wait for a further command. `nil` if those that are there are submitted now.
    ///
    /// - Parameters:
    ///   - last: The command that started last.
    ///   - time: The time since the first command.
    static func pause(_ last: ExecutedCommand, after time: Duration) -> Duration? {
        guard time < longest else { return nil }
        return last.operation.settings.batch > 1 ? ofSharedJob : ofArray
    }
}
