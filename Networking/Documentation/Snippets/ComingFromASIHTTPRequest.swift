import HTTPTypes
import Operations
import OperationsNetworking

let queue = OperationQueue()
let url = ""
