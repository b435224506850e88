#if canImport(Glibc)
    import Glibc
    import Operations
    import Synchronization
    import TestSupport
    import Testing

    /// Sizes far beyond what anybody has, and the memory after. One at a time, and each in a process of its own, for
    /// they look at the memory of the process.
    @Suite(.serialized, .timeLimit(.minutes(20))) struct ScaleStress {
        @Test func `millions of pending operations run, and their memory returns`() async {
            tell(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    let count = Stress.rounds(1_000_000)
                    report("\(count) pending operations") {
                        let (queue, ran) = (OperationQueue(), Tally())
                        queue.isSuspended = true
                        for _ in 0..<count { queue.addOperation { ran.add() } }
                        let peak = Memory.inUse
                        queue.isSuspended = false
                        queue.waitUntilAllOperationsAreFinished()
                        #expect(ran.count == count)
                        return peak
                    }
                })
        }

        @Test func `a very long chain runs, and its memory returns`() async {
            tell(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    let count = Stress.rounds(200_000)
                    report("a chain of \(count) operations") {
                        let (queue, ran) = (OperationQueue(), Tally())
                        queue.isSuspended = true
                        var last: Operation?
                        for _ in 0..<count {
                            let operation = BlockOperation { ran.add() }
                            if let last { operation.addDependency(last) }
                            last = operation
                            queue.addOperation(operation)
                        }
                        let peak = Memory.inUse
                        queue.isSuspended = false
                        queue.waitUntilAllOperationsAreFinished()
                        #expect(ran.count == count)
                        return peak
                    }
                })
        }

        @Test func `very many queues at once run what they hold, and their memory returns`() async {
            tell(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    let count = Stress.rounds(20_000)
                    report("\(count) queues") {
                        let ran = Tally()
                        let queues = (0..<count).map { index in
                            let queue = OperationQueue()
                            if index % 2 == 0 { queue.maxConcurrentOperationCount = 1 }
                            queue.isSuspended = true
                            queue.addOperation { ran.add() }
                            return queue
                        }
                        let peak = Memory.inUse
                        for queue in queues { queue.isSuspended = false }
                        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
                        #expect(ran.count == count)
                        return peak
                    }
                })
        }

        @Test func `64 threads add to one queue`() async {
            tell(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    let each = Stress.rounds(2_000)
                    report("64 threads that add \(each) operations each") {
                        let (queue, ran) = (OperationQueue(), Tally())
                        let threads = (0..<64).map { _ in
                            TestThread { for _ in 0..<each { queue.addOperation { ran.add() } } }
                        }
                        for thread in threads { thread.join() }
                        queue.waitUntilAllOperationsAreFinished()
                        #expect(ran.count == 64 * each)
                        return Memory.inUse
                    }
                })
        }

        /// What has no work ends after `idleSeconds`, 5; what is left sleeps.
        @Test func `an idle process with queues has the threads it began with, and uses no processor time`() async {
            await #expect(processExitsWith: .success) { comeToRest() }
        }
    }

    /// Does it three times. What the allocator keeps for itself, and the stall watches of queues that were suspended,
    /// for ten seconds, is some megabytes; what is lost would be more each time.
    private func report(_ what: String, _ body: () -> Int) {
        let clock = ContinuousClock()
        let before = Memory.inUse
        var afterFirst = 0
        for round in 1...3 {
            var peak = 0
            let time = clock.measure { peak = body() }
            let after = Memory.inUse
            print(
                "scale: \(what): \(time), \((peak - before) >> 20) MiB at most, \((after - before) >> 20) MiB after"
            )
            if round == 1 { afterFirst = after }
            #expect(!Memory.isReturned || after - afterFirst <= 24 << 20)
        }
    }

    private func tell(_ child: ExitTest.Result?) {
        if let child { print(String(decoding: child.standardOutputContent, as: UTF8.self), terminator: "") }
    }

    private func comeToRest() {
        let before = Threads.count
        let queues = (0..<20).map { _ in OperationQueue() }
        for queue in queues { for _ in 0..<50 { queue.addOperation { usleep(100) } } }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        // The monitor stays.
        while Threads.count > before + 1 { usleep(10_000) }
        let used = Threads.processorTime
        usleep(1_000_000)
        precondition(Threads.processorTime - used < 0.005)
        withExtendedLifetime(queues) {}
    }

    private final class Tally: Sendable {
        private let value = Atomic(0)
        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.add(1, ordering: .relaxed) }
    }

    private enum Memory {
        /// Bytes of memory in use, after `malloc` has given back to the system what it could.
        static var inUse: Int {
            if let trim { _ = trim(0) }
            guard let file = fopen("/proc/self/statm", "r") else { return 0 }
            defer { fclose(file) }
            var (size, resident) = (0, 0)
            withUnsafeMutablePointer(to: &size) { size in
                withUnsafeMutablePointer(to: &resident) { resident in
                    _ = withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
                }
            }
            return resident * Int(sysconf(Int32(_SC_PAGESIZE)))
        }

        /// The sanitizers keep freed memory, to recognise who still uses it.
        static let isReturned = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

        /// Looked up, for the module of the C library does not have it.
        private static let trim: (@convention(c) (Int) -> Int32)? = dlsym(nil, "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
        }
    }

    private enum Threads {
        static var count: Int {
            guard let directory = opendir("/proc/self/task") else { return 0 }
            defer { closedir(directory) }
            var count = -2
            while readdir(directory) != nil { count += 1 }
            return count
        }

        /// Of all threads, in seconds.
        static var processorTime: Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
#endif
