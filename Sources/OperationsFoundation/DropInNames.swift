// What `import OperationsFoundation` brings: Foundation, and the names that Foundation gives to operations and observing, with
// this project's meaning. No others (rule A6).

@_exported public import Foundation
// One by one: a name that is imported singly comes before the same name of a module that is imported whole (rule U1), however a
// file comes by that module: Foundation beside this one, or through XCTest. Type aliases would not do: in a file that imports
// `Operations` too they are a second meaning, which makes some closures ambiguous. The members of these types are visible
// with `MemberImportVisibility` as well.
@_exported public import class KeyValueObserving.NSKeyValueObservation
@_exported public import enum KeyValueObserving.NSKeyValueChange
@_exported public import enum KeyValueObserving.NSKeyValueSetMutationKind
@_exported public import struct KeyValueObserving.NSKeyValueChangeKey
@_exported public import struct KeyValueObserving.NSKeyValueObservedChange
@_exported public import struct KeyValueObserving.NSKeyValueObservingOptions
@_exported public import class Operations.BlockOperation
@_exported public import class Operations.InvocationOperation
@_exported public import let Operations.NSInvocationOperationCancelledException
@_exported public import let Operations.NSInvocationOperationVoidResultException
@_exported public import class Operations.Operation
@_exported public import class Operations.OperationQueue
@_exported public import enum Operations.QualityOfService
@_exported public import struct Operations.Selector
