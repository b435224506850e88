import Glibc

/// The place and time of a run.
public struct Machine: Codable, Sendable {
    public let processor: String
    public let cores: Int
    public let kernel: String
    public let swift: String
    public let date: String
    /// The system's load in the previous minute: about 0 on an otherwise idle machine.
    public let load: Double

    /// Reads the values from the system.
    public static var current: Machine {
        Machine(
            processor: lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }?
                .split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown",
            cores: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            kernel: "Linux " + (lines(of: "/proc/sys/kernel/osrelease").first ?? "unknown"),
            swift: lines(ofCommand: "swift --version 2>/dev/null").first { $0.contains("Swift version") } ?? "unknown",
            date: now,
            load: lines(of: "/proc/loadavg").first?.split(separator: " ").first.flatMap { Double($0) } ?? 0)
    }

    /// The values in one line.
    public var text: String {
        "\(processor), \(cores) cores, load before \(load.brief); \(kernel); \(swift); \(date)"
    }

    private static var now: String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M UTC", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func lines(of file: String) -> [String] { lines(in: fopen(file, "r"), closedBy: fclose) }

    private static func lines(ofCommand command: String) -> [String] {
        lines(in: popen(command, "r"), closedBy: pclose)
    }

    private static func lines(
        in stream: UnsafeMutablePointer<FILE>?, closedBy close: (UnsafeMutablePointer<FILE>) -> Int32
    )
        -> [String]
    {
        guard let stream else { return [] }
        defer { _ = close(stream) }
        var bytes: [UInt8] = []
        while case let byte = getc(stream), byte >= 0 { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
