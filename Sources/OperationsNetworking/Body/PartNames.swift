#if Networking
import Crypto
import HTTPCore
import SystemPackage

/// The files beside a target while it is downloaded (rule D1): `.NAME.part` holds the bytes so far,
/// `.NAME.part.json` says of which resource they are. A plain value.
///
/// No target has a name of this form, so a part of one download is never the target of another one.
struct PartNames: Equatable {
    let part: FilePath
    let note: FilePath

    private static let ending = ".part"
    private static let noteEnding = ".json"
    /// Of a name, in bytes, on Linux and macOS.
    private static let maximumLength = 255

    /// Nil for a target that is no name of a file, or has the form of a part's name.
    init?(of target: FilePath) {
        guard let component = target.lastComponent, component.kind == .regular else { return nil }
        let name = component.string
        guard !Self.isReserved(name) else { return nil }
        let part = ".\(Self.stem(of: name))\(Self.ending)"
        let folder = target.removingLastComponent()
        self.part = folder.appending(part)
        note = folder.appending(part + Self.noteEnding)
    }

    private static func isReserved(_ name: String) -> Bool {
        name.hasPrefix(".") && (name.hasSuffix(ending) || name.hasSuffix(ending + noteEnding))
    }

    /// The name itself if there is room for it; else its beginning and a digest.
    private static func stem(of name: String) -> String {
        let room = maximumLength - ".\(ending)\(noteEnding)".utf8.count
        if name.utf8.count <= room { return name }
        let mark = "-" + SHA256.hash(data: Array(name.utf8)).prefix(8).hexadecimal()
        var beginning = Substring(name)
        while beginning.utf8.count > room - mark.utf8.count { beginning.removeLast() }
        return beginning + mark
    }
}
#endif
