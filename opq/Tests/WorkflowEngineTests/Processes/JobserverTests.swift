import CProcess
import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

struct JobserverTests {
    @Test(
        arguments: [
            ("", nil), ("k", nil), (" -j4 --jobserver-auth=3,4", .pipe(reader: 3, writer: 4)),
            ("kw -j --jobserver-fds=5,6 -j4", .pipe(reader: 5, writer: 6)),
            ("-j2 --jobserver-auth=fifo:/tmp/a,b", .fifo(path: "/tmp/a,b")),
            (" --jobserver-auth=-2,-2", nil), ("--jobserver-auth=3", nil), ("--jobserver-auth=3,4,5", nil),
            ("--jobserver-auth=3,4 --jobserver-auth=fifo:x", .fifo(path: "x")),
            (" -j1 -- X=--jobserver-auth=3,4 --jobserver-auth=3,4", nil),
        ] as [(String, JobserverAddress?)])
    func `the address is the last one among the flags of make`(flags: String, address: JobserverAddress?) {
        #expect(JobserverAddress(makeFlags: flags) == address)
    }

    @Test func `the first command needs no byte, and the others return the bytes that they took`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(cprocess_output_pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try #require(write(ends[1], "ab", 2) == 2)
        let jobserver = try Jobserver(.pipe(reader: ends[0], writer: ends[1]))
        #expect(jobserver.makeFlags == nil)
        let tokens = (1...4).map { _ in jobserver.take() }
        #expect(tokens == [.implied, .byte(UInt8(ascii: "a")), .byte(UInt8(ascii: "b")), nil])
        // The shared end still blocks for the other programs.
        #expect(fcntl(ends[0], F_GETFL) & O_NONBLOCK == 0)
        jobserver.give(.byte(UInt8(ascii: "b")))
        jobserver.give(.implied)
        #expect([jobserver.take(), jobserver.take(), jobserver.take()] == [.implied, .byte(UInt8(ascii: "b")), nil])
        jobserver.give(.byte(UInt8(ascii: "b")))
        jobserver.give(.byte(UInt8(ascii: "a")))
        #expect(cprocess_available(ends[0]) == 2)
    }

    @Test func `descriptors that are closed or no pipes are no jobserver`() throws {
        #expect(throws: Jobserver.Closed.self) { try Jobserver(.pipe(reader: 900, writer: 901)) }
        #expect(throws: Jobserver.Closed.self) { try Jobserver(.fifo(path: "/no/such/fifo")) }
        #expect(throws: Jobserver.Closed.self) { try Jobserver(.fifo(path: "/dev/null")) }
    }

    @Test func `an own jobserver has a token for each job, and makes lost ones again when no command runs`() throws {
        let jobserver = try Jobserver(jobs: 3, flags: "-k")
        #expect(jobserver.makeFlags?.hasPrefix("-k -j3 --jobserver-auth=") == true)
        #expect(try Jobserver(jobs: 1, flags: "").makeFlags?.hasPrefix("-j1 --jobserver-auth=") == true)
        #expect((1...4).map { _ in jobserver.take() != nil } == [true, true, true, false])
        // A make was killed with one token, and another program has put one too many.
        jobserver.give(.implied)
        jobserver.give(.byte(UInt8(ascii: "+")))
        #expect(cprocess_available(jobserver.reader.rawValue) == 1)
        var byte: UInt8 = 0
        #expect(read(jobserver.reader.rawValue, &byte, 1) == 1)
        jobserver.give(.byte(UInt8(ascii: "+")))
        #expect(cprocess_available(jobserver.reader.rawValue) == 2)
    }
}
