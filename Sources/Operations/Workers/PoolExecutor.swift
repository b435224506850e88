/// An executor that runs tasks on the threads of a pool, outside of any queue.
final class PoolExecutor: TaskExecutor {
    private let pool: WorkerPool

    private static let all = WorkerPool.pools.map(PoolExecutor.init)

    static func of(_ level: ServiceLevel) -> PoolExecutor { all[level.rawValue] }

    private init(_ pool: WorkerPool) { self.pool = pool }

    func enqueue(_ job: consuming ExecutorJob) { pool.request(PoolJob(UnownedJob(job), self)) }

    private final class PoolJob: WorkSource {
        private let job: UnownedJob
        private let executor: PoolExecutor

        init(_ job: UnownedJob, _ executor: PoolExecutor) {
            self.job = job
            self.executor = executor
        }

        var urgency: Urgency { .prompt }
        var threadName: String? { "condition" }

        func work(on worker: Worker) { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }
}
