// Who imports `Operations` can observe: `operation.observe(\.isFinished) { … }`.
@_exported public import KeyValueObserving
