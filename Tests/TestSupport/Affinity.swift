import CTestRun

/// Restricts the calling thread, and threads that it starts later, to one processor. Returns false if the system cannot do
/// this.
public func useOneProcessor() -> Bool { ctestrun_use_one_processor() }
