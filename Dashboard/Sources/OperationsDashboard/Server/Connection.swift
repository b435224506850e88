import DashboardCore

/// One connection. Used by the thread of the server only.
struct Connection {
    let descriptor: Int32
    let number: Int
    var parser = RequestParser()
    private var output: [UInt8] = []
    private var sent = 0
    var isStream = false
    var awaitsResponse = false
    var keepsAlive = true
    var isPermitted = false
    /// Whether the last response was sent, and received bytes are discarded. A connection that is closed with unread bytes is reset,
    /// and the client may lose the response.
    var discards = false
    /// The time of the last complete request, or of the last progress.
    var active: Double

    init(_ descriptor: Int32, number: Int, now: Double) {
        (self.descriptor, self.number, active) = (descriptor, number, now)
    }

    var hasOutput: Bool { sent < output.count }
    var readsRequests: Bool { !hasOutput && !awaitsResponse && !isStream && !discards }

    func moment(now: Double) -> ConnectionLimits.Moment {
        .init(
            idle: now - active, isStream: isStream, hasOutput: hasOutput, awaitsResponse: awaitsResponse,
            isPermitted: isPermitted)
    }

    /// Sets bytes to send. The bytes before have all been sent.
    mutating func setOutput(_ bytes: [UInt8]) { (output, sent) = (bytes, 0) }

    /// Sends as much as the socket accepts. Returns whether the connection is still open.
    mutating func transmit(now: Double) -> Bool {
        while hasOutput {
            switch SocketCalls.transmit(output[sent...], to: descriptor) {
            case .count(let count):
                sent += count
                active = now
            case .wouldBlock: return true
            case .over: return false
            }
        }
        (output, sent) = ([], 0)
        return true
    }
}
