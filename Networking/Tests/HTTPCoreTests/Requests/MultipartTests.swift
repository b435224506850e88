import FoundationEssentials
import HTTPCore
import TestSupport
import Testing

@Suite struct MultipartTests {
    private struct Missing: Error {}

    private func layout(_ form: MultipartForm, boundary: String = "B", files: [String: Int64] = [:]) throws
        -> MultipartLayout
    {
        try MultipartLayout(form, boundary: boundary, url: "http://h/") { path in
            guard let length = files[path] else { throw Missing() }
            return length
        }
    }

    private func text(_ layout: MultipartLayout) -> String {
        layout.segments.map { segment in
            switch segment {
            case .bytes(let data): String(decoding: data, as: UTF8.self)
            case .file(let path, let length): "<\(path):\(length)>"
            }
        }.joined()
    }

    @Test(arguments: ["a\r\nX: y", "a\0", "\u{7F}"]) func `a type with control characters is refused`(type: String) {
        let form = MultipartForm([.init("a", .data(Data()), contentType: type)])
        #expect(throws: HTTPError.self) { try layout(form) }
    }

    @Test func `a missing file fails with the error of its lookup`() {
        var form = MultipartForm()
        form.append("a", filePath: "/missing")
        #expect(throws: Missing.self) { try layout(form) }
    }

    @Test(arguments: [
        ("a\"; filename=\"evil", "a%22; filename=%22evil"), ("a\r\n\r\nevil", "a%0D%0A%0D%0Aevil"),
        ("a\0\u{7F}", "a%00%7F"),
        ("ü 日", "ü 日"), ("a\\", "a\\"), ("", ""), ("%22", "%22"),
    ])
    func `names cannot end their header`(name: String, escaped: String) throws {
        var form = MultipartForm()
        form.append(name, Data(), fileName: name)
        #expect(try text(layout(form)).contains(#"; name="\#(escaped)"; filename="\#(escaped)""# + "\r\n\r\n"))
    }

    @Test func `a form without parts is valid`() throws {
        let layout = try layout(MultipartForm())
        #expect(text(layout) == "--B--\r\n")
        #expect(layout.contentLength == 7)
        #expect(layout.contentType == "multipart/form-data; boundary=B")
    }

    @Test func `the layout has the lengths of fields, data and files without reading files`() throws {
        var form = MultipartForm()
        form.append("a", "1")
        form.append("b", Data("xyz".utf8), fileName: "b.txt", contentType: "text/plain")
        form.append("c", filePath: "/tmp/c.bin")
        form.append("d", filePath: "/empty", fileName: "d", contentType: "x/y")
        form.append("e", filePath: "/huge")
        let layout = try layout(form, files: ["/tmp/c.bin": 10, "/empty": 0, "/huge": 1 << 40])
        let expected = """
            --B
            Content-Disposition: form-data; name="a"

            1
            --B
            Content-Disposition: form-data; name="b"; filename="b.txt"
            Content-Type: text/plain

            xyz
            --B
            Content-Disposition: form-data; name="c"; filename="c.bin"
            Content-Type: application/octet-stream

            </tmp/c.bin:10>
            --B
            Content-Disposition: form-data; name="d"; filename="d"
            Content-Type: x/y


            --B
            Content-Disposition: form-data; name="e"; filename="huge"
            Content-Type: application/octet-stream

            </huge:1099511627776>
            --B--

            """
        #expect(text(layout) == expected.replacing("\n", with: "\r\n"))
        #expect(layout.segments.count == 5)
        #expect(layout.contentLength == layout.segments.reduce(0) { $0 + $1.length })
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func `the announced length equals the number of sent bytes`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        var form = MultipartForm()
        var files: [String: Int64] = [:]
        for number in 0..<random.below(8) {
            if random.chance(50) {
                form.append(
                    "n\(number)", Data(repeating: 0xFF, count: random.below(100)),
                    fileName: random.chance(50) ? "ü" : nil)
            } else {
                files["/\(number)"] = Int64(random.below(3))
                form.append("f", filePath: "/\(number)")
            }
        }
        let layout = try layout(form, boundary: MultipartLayout.randomBoundary(), files: files)
        let sent = layout.segments.reduce(into: [UInt8]()) { sent, segment in
            switch segment {
            case .bytes(let data): sent += data
            case .file(_, let length): sent += Array(repeating: 0, count: Int(length))
            }
        }
        #expect(layout.contentLength == Int64(sent.count))
        #expect(!layout.segments.contains { $0.length == 0 })
        #expect(try JSONDecoder().decode(MultipartForm.self, from: JSONEncoder().encode(form)) == form)
    }

    @Test func `boundaries are valid, and quoted where necessary`() throws {
        let boundaries = Set((0..<100).map { _ in MultipartLayout.randomBoundary() })
        #expect(boundaries.count == 100 && boundaries.allSatisfy(MultipartLayout.isValid))
        for bad in ["", "a b", "a\r\n", "\"", "ü", String(repeating: "a", count: 71)] {
            #expect(!MultipartLayout.isValid(boundary: bad))
        }
        #expect(try layout(MultipartForm(), boundary: "a:b").contentType == #"multipart/form-data; boundary="a:b""#)
    }
}
