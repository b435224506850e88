// The names that `import OperationsFoundation` adds: Foundation, and this package's versions of Foundation's names for
// operations and observation. The module exports no other names.

@_exported public import Foundation
// The names are exported one by one. A name that is imported by itself takes precedence over the same name of a module that is
// imported as a whole. This also holds if the file imports Foundation directly or through XCTest. Type aliases would
// not work: in a file that also imports `Operations`, an alias is a second meaning, which makes some closures ambiguous. With
// `MemberImportVisibility`, the members of these types are visible as well.
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
