// The second way in: this file, once in a module. All others go on importing Foundation; a module's own names come before
// those it imports. The exported import makes the members visible in those files, too, where `MemberImportVisibility` is on;
// without that feature a plain import does.
@_exported public import Operations

typealias Operation = Operations.Operation
typealias BlockOperation = Operations.BlockOperation
typealias OperationQueue = Operations.OperationQueue
typealias QualityOfService = Operations.QualityOfService
