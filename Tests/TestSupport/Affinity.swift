import CTestRun

/// Restricts the calling thread, and the threads that it starts, to one processor. False where the system cannot.
public func useOneProcessor() -> Bool { ctestrun_use_one_processor() }
