import Foundation
import OperationsDurable

struct Fetch: DurableOperation {
    static let name = "fetch"
    var url: URL

    func run(_ context: DurableContext) async throws {}
}

struct Resize: DurableOperation {
    static let name = "resize"
    var photo: String

    func run(_ context: DurableContext) async throws {}
}

func opened() -> any DurableStore { fatalError("only compiled") }

let store = opened()
let photos = DurableQueue("photos", in: store)
let url = URL(string: "https://example.org/a.jpg")!
