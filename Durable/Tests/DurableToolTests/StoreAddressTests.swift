import DurableCore
import DurableTool
import Testing

@Suite struct StoreAddressTests {
    private static let secrets = [
        "postgresql://ada:s3cret@host/work", "postgres://:s3cret@/work", "POSTGRESQL://ada:s3cret@host",
        "postgresql://host/work?user=ada&password=s3cret", "postgresql://ada:a@b:s3cret@host/work",
        "postgresql://host/work?sslpassword=s3cret",
    ]

    @Test(arguments: secrets)
    func `R29: no text about an address contains a part of it`(_ text: String) throws {
        let address = try StoreAddress(text)
        #expect(address.hasPassword)
        let errors: [DurableError] = [.noSchema, .unavailable("no server"), .newerSchema(found: 9, supported: 5)]
        let texts = ["\(address)", String(reflecting: address)] + errors.map { "\(Failure($0, store: address))" }
        var dumped = ""
        dump(address, to: &dumped)
        for found in texts + [dumped] { #expect(!found.contains("s3cret") && !found.contains("ada")) }
    }

    @Test(arguments: [
        "postgresql://host/work", "postgresql://ada@host/work", "postgresql:///work?service=main", "work.db",
    ])
    func `R29: an address without a password causes no warning`(_ text: String) throws {
        #expect(try !StoreAddress(text).hasPassword)
    }

    @Test(arguments: secrets + ["host=h password=s3cret"])
    func `R29: a message of the argument parser contains no address`(_ text: String) {
        for arguments in [["durable", "--stor", text], ["durable", "--stor=\(text)"]] {
            let message =
                "Error: Unknown option '\(arguments.dropFirst().joined(separator: " "))'; '\(text)' is unexpected"
            #expect(!StoreAddress.masked(message, arguments: arguments).contains("s3cret"))
        }
    }

    @Test(arguments: ["", "mysql://u:s3cret@host", "host=h password=s3cret"])
    func `R29: a text that is no address is refused without a part of it`(_ text: String) {
        #expect { try StoreAddress(text) } throws: { !"\($0)".contains("s3cret") }
    }

    @Test func `R36: other texts are paths of files`() throws {
        for path in ["work.db", "/tmp/a b.db", "--odd", "postgresql", "a=b"] {
            #expect(try StoreAddress(path) == .file(path))
        }
    }

    @Test func `R36: each error has a status, and errors of the store have a remedy`() {
        let file = StoreAddress.file("work.db")
        #expect(Failure(DurableError.operationRuns(OperationID(1)), store: file).status == .refused)
        #expect(Failure(DurableError.noSchema, store: file).status == .noStore)
        let texts = [
            "SQLite error 11: database disk image is malformed",
            "the file 'a' cannot be read: No such file or directory",
            "process 1 'x' has held the lock of the file for 5 s", "the file 'a' is not a database",
            "SQLite error 13: database or disk is full", "the server requires a password",
        ]
        for text in texts {
            let failure = Failure(DurableError.unavailable(text), store: file)
            #expect(failure.status == .noStore && failure.remedy != nil)
        }
        for error in [
            DurableError.noSchema, .newerSchema(found: 9, supported: 5), .olderSchema(found: 1, supported: 5),
        ] {
            #expect(Failure(error, store: file).remedy != nil)
        }
    }
}
