import Foundation
import OperationsDurable

struct InvalidAddress: Error {}

struct SendMail: DurableOperation {
    static let name = "send-mail"
    var address: String

    func run(_ context: DurableContext) async throws {}
}

struct Extract: DurableOperation {
    static let name = "extract"
    func run(_ context: DurableContext) async throws {}
}

struct Load: DurableOperation {
    static let name = "load"
    func run(_ context: DurableContext) async throws {}
}

struct Report: DurableOperation {
    static let name = "report"
    func run(_ context: DurableContext) async throws {}
}

struct Book: DurableOperation {
    static let name = "book"
    var item: String
    func run(_ context: DurableContext) async throws -> String { item }
}

func opened<Value>() -> Value { fatalError("only compiled") }

let store: any DurableStore = opened()
let worker: DurableWorker = opened()
let mails = DurableQueue("mails", in: store)
