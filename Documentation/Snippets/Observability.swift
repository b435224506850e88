import Foundation
import Logging
import Metrics
import Operations
import OperationsObservability
import OperationsTimeline
import Tracing

typealias Operation = Operations.Operation
typealias OperationQueue = Operations.OperationQueue

let queue = OperationQueue()
let logger = Logger(label: "queue")
let (url, page) = (URL(filePath: "/"), URL(filePath: "/"))
func record(_ operation: String, _ outcome: OperationOutcome?, _ waited: Duration?, _ ran: Duration?) {}
