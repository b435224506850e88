#if Networking
import Operations

// For the whole module: its files import Foundation too.
typealias Operation = Operations.Operation
typealias OperationQueue = Operations.OperationQueue
typealias BlockOperation = Operations.BlockOperation
#endif
