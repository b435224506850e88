// A file that imports `Operations` can observe operations: `operation.observe(\.isFinished) { … }`.
@_exported public import KeyValueObserving
