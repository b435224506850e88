@_exported public import Foundation
@_exported public import Operations

// These shadow Foundation's names for whoever imports only this module (rule U1).

public typealias Operation = Operations.Operation
public typealias BlockOperation = Operations.BlockOperation
public typealias OperationQueue = Operations.OperationQueue
public typealias QualityOfService = Operations.QualityOfService

// Foundation has these on Apple's systems only.

public typealias InvocationOperation = Operations.InvocationOperation
public typealias Invocation = Operations.Invocation
public typealias Selector = Operations.Selector
public typealias OperationError = Operations.OperationError
