import Crypto
import HTTPCore
import SystemPackage

/// The names of the files beside a target while it is downloaded: a plain value. `.NAME.part` holds the bytes so far, and
/// `.NAME.part.json` names their resource.
///
/// Names of this form are not valid targets, so the part of one download is never the target of another.
struct PartNames: Equatable {
    let part: FilePath
    let note: FilePath

    private static let ending = ".part"
    private static let noteEnding = ".json"
    /// The maximum length of a file name in bytes, on Linux and macOS.
    private static let maximumLength = 255

    /// Creates the names for a target. Returns nil if the target is not a file name or has the form of a part's name.
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

    /// Returns the name itself if it is short enough; otherwise its beginning and a digest.
    private static func stem(of name: String) -> String {
        let room = maximumLength - ".\(ending)\(noteEnding)".utf8.count
        if name.utf8.count <= room { return name }
        let mark = "-" + SHA256.hash(data: Array(name.utf8)).prefix(8).hexadecimal()
        var beginning = Substring(name)
        while beginning.utf8.count > room - mark.utf8.count { beginning.removeLast() }
        return beginning + mark
    }
}
