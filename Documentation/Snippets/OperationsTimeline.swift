import Foundation
import Operations
import OperationsTimeline

let queue = Operations.OperationQueue()
let (trace, page) = (URL(filePath: "/"), URL(filePath: "/"))
