import Glibc

/// Returns whether this process ignores a signal, which usually means that the process inherited the signal as ignored.
///
/// `nohup` ignores `SIGHUP`, and a shell that is not interactive ignores `SIGINT` and `SIGQUIT` in its background jobs.
func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
}
