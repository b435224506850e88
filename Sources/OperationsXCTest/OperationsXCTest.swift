// `import OperationsXCTest` in place of `import XCTest` (rule A6).
//
// XCTest exports Foundation. So in a file that imports XCTest, `Operation` is Foundation's as well as ours, and ambiguous.
// Here Foundation comes by way of this module alone, whose own names come before it.

@_exported public import OperationsFoundation
@_exported public import XCTest

public typealias Operation = OperationsFoundation.Operation
public typealias BlockOperation = OperationsFoundation.BlockOperation
public typealias OperationQueue = OperationsFoundation.OperationQueue
public typealias QualityOfService = OperationsFoundation.QualityOfService

public typealias NSKeyValueChange = OperationsFoundation.NSKeyValueChange
public typealias NSKeyValueChangeKey = OperationsFoundation.NSKeyValueChangeKey
public typealias NSKeyValueObservation = OperationsFoundation.NSKeyValueObservation
public typealias NSKeyValueObservedChange = OperationsFoundation.NSKeyValueObservedChange
public typealias NSKeyValueObservingOptions = OperationsFoundation.NSKeyValueObservingOptions
public typealias NSKeyValueSetMutationKind = OperationsFoundation.NSKeyValueSetMutationKind

public typealias InvocationOperation = OperationsFoundation.InvocationOperation
public typealias Selector = OperationsFoundation.Selector
