import Operations

// For the whole module, because its files also import Foundation.
typealias Operation = Operations.Operation
typealias OperationQueue = Operations.OperationQueue
typealias BlockOperation = Operations.BlockOperation
