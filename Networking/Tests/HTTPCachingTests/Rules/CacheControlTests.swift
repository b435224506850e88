import HTTPCaching
import HTTPTypes
import TestSupport
import Testing

@Suite struct CacheControlTests {
    private func control(_ lines: String...) -> CacheControl {
        CacheControl(ofResponse: fields(lines.map { "Cache-Control: \($0)" }))
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age = 60", 60), ("max-age=\"60\"", 60), ("max-age=060", 60),
            ("max-age=1, max-age=2", 1), ("max-age=2, max-age=1", 1), ("max-age=2, MAX-AGE=\"1\"", 1),
            ("max-age=2, max-age", 0), ("max-age=2, max-age=x", 0), ("max-age=-1, max-age=2", 0),
            ("no-cache,max-age=5", 5), (", ,max-age=5,,", 5), ("\tmax-age=5\t", 5),
            ("x=\"max-age=1, y\", max-age=2", 2), ("x=\"\\\", max-age=1\", max-age=2", 2),
            ("max-age=99999999999999999999", 1 << 31), ("max-age=2147483648", 1 << 31),
            ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=ten", 0),
            ("max-age=1 2", 0),
            ("max-age=٣", 0), ("x=\"max-age=1", nil), ("s-maxage=5", nil), ("", nil), ("maxage=5", nil),
        ] as [(String, Int?)])
    func `max-age is parsed, and an invalid max-age means stale`(line: String, expected: Int?) {
        #expect(control(line).maxAge == expected)
    }

    @Test func `directives are found alone, with arguments, on several lines and among unknown directives`() {
        let read = control(
            "private=\"Set-Cookie, X-A\", community=\"UCI\", NO-CACHE=\"X, Y\"", "immutable, must-revalidate")
        #expect(read.isPrivate && read.noCache && read.isImmutable && read.mustRevalidate)
        #expect(!read.noStore && !read.isPublic && !read.mustUnderstand)
        #expect(read.argument("private") == "Set-Cookie, X-A" && read.argument("community") == "UCI")
        #expect(read.has("community") && !read.has("ucI") && read.argument("immutable") == nil)
    }

    @Test func `an unclosed quotation mark hides no later directive`() {
        #expect(control("x=\"abc, no-store").noStore)
        #expect(control("x=\"abc\\", "no-store").noStore)
        #expect(control("private=\"", "no-store").noStore)
    }

    @Test(arguments: [
        ("max-stale", Int.max), ("max-stale=10", 10), ("max-stale=x", 0), ("max-stale=", 0),
    ])
    func `max-stale without a number means any`(line: String, expected: Int) {
        #expect(CacheControl(ofRequest: fields("Cache-Control: \(line)")).maxStale == expected)
    }

    @Test func `an invalid min-fresh is never satisfied, and an invalid stale-if-error allows nothing`() {
        #expect(control("min-fresh=x").minFresh == 1 << 31)
        #expect(control("stale-if-error=x").staleIfError == 0)
    }

    @Test(
        arguments: [
            ("stale-while-revalidate=30", 30), ("STALE-While-Revalidate = \"30\"", 30),
            ("max-age=5", nil),
            ("stale-while-revalidate", 0), ("stale-while-revalidate=", 0),
            ("stale-while-revalidate=x", 0),
            ("stale-while-revalidate=-1", 0), ("stale-while-revalidate=1.5", 0),
            ("stale-while-revalidate=1 2", 0),
            ("stale-while-revalidate=9, stale-while-revalidate=5", 5),
            ("stale-while-revalidate=9, stale-while-revalidate", 0),
            ("stale-while-revalidate=9, stale-while-revalidate=x", 0),
            ("x=\"stale-while-revalidate=9\"", nil),
            ("stale-while-revalidate=99999999999999999999", 1 << 31),
        ] as [(String, Int?)])
    func `stale-while-revalidate is parsed, and an invalid number permits nothing`(
        line: String, expected: Int?
    ) {
        #expect(control(line).staleWhileRevalidate == expected)
    }

    @Test func `the most cautious of several equal directives wins, on one line or on several`() {
        #expect(control("max-age=9", "max-age=5", "max-age=7").maxAge == 5)
        #expect(control("min-fresh=5, min-fresh=9, min-fresh=7").minFresh == 9)
        #expect(control("stale-if-error=9, stale-if-error=5").staleIfError == 5)
        #expect(control("max-stale=9, max-stale=5").maxStale == 5)
        #expect(control("max-stale, max-stale=5").maxStale == 5)
        #expect(control("max-stale=5", "max-stale").maxStale == 5)
    }

    @Test(
        arguments: [
            ("no-cache", []), ("max-age=5", []), ("private=\"Set-Cookie\"", []), ("no-cache=\"\"", []),
            ("no-cache=\"Set-Cookie\"", ["set-cookie"]), ("No-Cache = \" SET-COOKIE ,, X-A\"", ["set-cookie", "x-a"]),
            ("no-cache=Set-Cookie", ["set-cookie"]), ("no-cache, no-cache=\"X-A\"", ["x-a"]),
            ("no-cache=\"X-A\", no-cache=\"X-B\"", ["x-a", "x-b"]), ("no-cache=\"Set-Cookie", ["set-cookie"]),
        ] as [(String, Set<String>)])
    func `no-cache with field names forbids the reuse of these fields`(line: String, names: Set<String>) {
        #expect(control(line).unreusedFields == names)
    }

    @Test func `Pragma counts only in requests without Cache-Control`() {
        #expect(CacheControl(ofRequest: fields("Pragma: x, No-Cache")).noCache)
        #expect(!CacheControl(ofRequest: fields("Pragma: no-cache", "Cache-Control: max-age=5")).noCache)
        #expect(!CacheControl(ofResponse: fields("Pragma: no-cache")).noCache)
        #expect(!CacheControl(ofRequest: fields("Pragma: other")).noCache)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every input is parsed without a crash`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let parts = ["max-age", "=", "\"", "\\", ",", " ", "no-store", "9", "é", ";", "\t", "private"]
        for _ in 0..<50 {
            let line = (0..<random.below(20)).map { _ in random.pick(parts) }.joined()
            let read = control(line)
            #expect((0...(1 << 31)).contains(read.maxAge ?? 0), "\(line)")
        }
    }
}
