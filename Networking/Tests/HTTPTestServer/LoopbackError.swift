/// An error of the start of a server or of opening a body.
public enum LoopbackError: Error, Sendable, CustomStringConvertible {
    /// The certificates could not be created.
    case noCertificates(any Error)
    /// The server could not bind a port of 127.0.0.1.
    case cannotBind(any Error)
    /// The file does not exist, cannot be read, or is not a regular file. `code` is an errno.
    case cannotRead(path: String, code: Int32)

    /// A description of the error and its remedy, for people.
    public var description: String {
        switch self {
        case .noCertificates(let error): "The certificates for the server could not be created: \(error)"
        case .cannotBind(let error):
            "The server could not bind a port of 127.0.0.1: \(error). Stop servers that are not in use."
        case .cannotRead(let path, let code): "\(path) cannot be read (errno \(code)). Use a regular file."
        }
    }
}
