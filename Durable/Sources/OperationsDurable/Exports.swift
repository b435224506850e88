@_exported public import DurableCore
