import Operations
import OperationsDashboard

let queue = OperationQueue(name: "pages")
