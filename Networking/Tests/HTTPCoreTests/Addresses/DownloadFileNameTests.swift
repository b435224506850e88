import HTTPCore
import HTTPTypes
import TestSupport
import Testing

@Suite struct FileNameTests {
    @Test(arguments: [
        "", ".", "..", "../x", "a/b", "/", "/etc/passwd", "a\\b", "..\\x", "a\0b", "\0", "a\nb", "a\u{7F}", "a\u{85}",
        "a\u{202E}gpj.exe", "a\u{2066}b", "a\u{2028}b", String(repeating: "a", count: 256),
        String(repeating: "ü", count: 128),
    ])
    func `a name that leads elsewhere or imitates another name is refused`(name: String) {
        #expect(!DownloadFileName.isUsable(name))
        let error = #expect(throws: HTTPError.self) { try DownloadFileName.checked(name, url: "http://h/") }
        guard case .unusableName(name) = error?.reason else { return #expect(Bool(false), "\(error as Any)") }
    }

    @Test(arguments: [
        "a", "a b.txt", "...", "..a", ".hidden", "CON", "nul.txt", "ünï 日本.txt", "a:b*?\"<>|", "~", "-rf", " ",
        String(repeating: "a", count: 255),
    ])
    func `other names are used unchanged`(name: String) throws {
        #expect(try DownloadFileName.checked(name, url: "") == name)
    }

    @Test(arguments: [
        ("", "download"), ("..", "download"), ("/", "download"), ("../../", "download"), ("\0\n", "download"),
        ("../../etc/passwd", "passwd"), ("C:\\Users\\me\\x.txt", "x.txt"), ("a/b/../..", "download"), ("a/", "a"),
        ("..\u{0}", "download"), (".\u{1}.", "download"), ("a\r\nb", "ab"), (" a b ", "a b"), (" .. ", "download"),
        ("x\u{202E}gpj.exe", "xgpj.exe"), ("ok.txt", "ok.txt"), ("\u{3000}", "download"),
        (".bash_login", "bash_login"), ("/.ssh/.config", "config"), (". .x", "x"), ("\u{1}.x", "x"),
        ("...", "download"),
    ])
    func `every text is converted to a usable name`(name: String, clean: String) {
        #expect(DownloadFileName.sanitized(name) == clean)
    }

    @Test(arguments: [
        String(repeating: "a", count: 300) + ".tar", String(repeating: "日本", count: 200) + ".jpeg",
        "x" + String(repeating: "\u{301}", count: 400), String(repeating: "👨‍👩‍👧‍👦", count: 60) + ".png",
        "." + String(repeating: "b", count: 1000),
    ])
    func `a name that is too long is cut between characters and keeps its extension`(name: String) {
        let clean = DownloadFileName.sanitized(name)
        #expect(DownloadFileName.isUsable(clean))
        if let end = name.split(separator: ".").dropFirst().last { #expect(clean.hasSuffix(".\(end)")) }
        #expect(clean == "download" || clean.utf8.count > 200 || clean.hasSuffix(".png"))
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `the name is usable for every input`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = ["..", "/", "\\", "\0", "a", "ü", "\n", ".", " ", "%2f", "\u{202E}", "👍", "\u{301}", "日"]
        let name = (0..<random.below(400)).map { _ in random.pick(pieces) }.joined()
        #expect(DownloadFileName.isUsable(DownloadFileName.sanitized(name)))
    }
}
