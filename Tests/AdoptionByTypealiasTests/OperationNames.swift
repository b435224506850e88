// The second way to adopt: this file, once in a module. The other files still import Foundation, because a module's own names
// take precedence over imported names. With `MemberImportVisibility`, the exported import makes the members visible in those
// files too. Without that feature, a plain import does so.
@_exported public import Operations

typealias Operation = Operations.Operation
typealias BlockOperation = Operations.BlockOperation
typealias OperationQueue = Operations.OperationQueue
typealias QualityOfService = Operations.QualityOfService
