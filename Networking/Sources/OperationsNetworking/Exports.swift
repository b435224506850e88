@_exported public import HTTPCaching
@_exported public import HTTPCore
