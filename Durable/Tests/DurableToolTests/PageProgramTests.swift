import DurableTool
import Testing

@Suite struct PageProgramTests {
    @Test func `the program is searched beside this one, then in the absolute folders of PATH`() {
        #expect(
            PageProgram.paths(besides: "/opt/bin/durable", path: "/usr/bin:.:bin::/bin")
                == ["/opt/bin/durable-serve", "/usr/bin/durable-serve", "/bin/durable-serve"])
        #expect(PageProgram.paths(besides: "/durable", path: nil) == ["/durable-serve"])
        #expect(PageProgram.paths(besides: nil, path: "") == [])
    }

    @Test func `a page that changes nothing and hides inputs is the default`() {
        #expect(
            PageProgram.arguments(port: 0, steers: false, showsInputs: false) == ["durable-serve", "--port", "0"])
        #expect(
            PageProgram.arguments(port: 80, steers: true, showsInputs: true).suffix(2) == ["--steer", "--inputs"])
    }
}
