#if Networking
#endif
