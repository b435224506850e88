// What `import OperationsFoundation` brings: Foundation, and the names that Foundation gives to operations and observing, with
// this project's meaning. No others (rule A6).

@_exported public import Foundation
// One by one: importing the whole module again would bring its additions. So imported, the members of these types are
// visible with `MemberImportVisibility` too.
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

// A module's own names come before those of the modules it exports, so these come before Foundation's (rule U1).

public typealias Operation = Operations.Operation
public typealias BlockOperation = Operations.BlockOperation
public typealias OperationQueue = Operations.OperationQueue
public typealias QualityOfService = Operations.QualityOfService

public typealias NSKeyValueChange = KeyValueObserving.NSKeyValueChange
public typealias NSKeyValueChangeKey = KeyValueObserving.NSKeyValueChangeKey
public typealias NSKeyValueObservation = KeyValueObserving.NSKeyValueObservation
public typealias NSKeyValueObservedChange = KeyValueObserving.NSKeyValueObservedChange
public typealias NSKeyValueObservingOptions = KeyValueObserving.NSKeyValueObservingOptions
public typealias NSKeyValueSetMutationKind = KeyValueObserving.NSKeyValueSetMutationKind

// Foundation has these on Apple's systems only.

public typealias InvocationOperation = Operations.InvocationOperation
public typealias Selector = Operations.Selector
