/// An executor that runs tasks on the threads of a pool, outside of any queue.
final class PoolExecutor: TaskExecutor {
    private let pool: WorkerPool

    private static let all = WorkerPool.pools.map(PoolExecutor.init)

    static func of(_ level: ServiceLevel) -> PoolExecutor { all[level.rawValue] }

    private init(_ pool: WorkerPool) { self.pool = pool }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.request(PoolJob(threadName: "condition") { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
    }
}
