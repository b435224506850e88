#if Networking
@_exported public import HTTPCaching
@_exported public import HTTPCore
#endif
