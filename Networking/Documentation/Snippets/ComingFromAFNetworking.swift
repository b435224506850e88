import OperationsNetworking

struct Photo: Decodable, Sendable {}

let client = try! HTTPClientQueue()
