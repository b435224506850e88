import Foundation
import HTTPTypes
import Operations
import OperationsImages
import OperationsNetworking

struct Note: Codable, Sendable {}
struct Photo: Decodable, Sendable {}
enum log { static let lines = AsyncStream<String> { nil } }

let client = try! HTTPClientQueue()
let session = HTTPSession.shared
let queue = Operations.OperationQueue()
nonisolated(unsafe) var configuration = HTTPSession.Configuration()
nonisolated(unsafe) var request = HTTPRequestDescription(.get, "")
let note = Note()
let digest: [UInt8] = []
let urls = [""]
