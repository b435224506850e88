#if Networking
@_exported public import HTTPCore
#endif
