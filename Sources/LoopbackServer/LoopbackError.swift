#if Networking
/// Why a server did not start, or a body cannot be sent.
public enum LoopbackError: Error, Sendable, CustomStringConvertible {
    /// No certificates could be made.
    case noCertificates(any Error)
    /// No port of 127.0.0.1 could be bound.
    case cannotBind(any Error)
    /// The file is not there, or is no plain file; `code` is the system's `errno`.
    case cannotRead(path: String, code: Int32)

    public var description: String {
        switch self {
        case .noCertificates(let error): "No certificates could be made for the server: \(error)"
        case .cannotBind(let error):
            "No port of 127.0.0.1 could be bound: \(error). Stop servers that are not needed any more."
        case .cannotRead(let path, let code): "\(path) cannot be read (errno \(code)). Name a plain file."
        }
    }
}
#endif
