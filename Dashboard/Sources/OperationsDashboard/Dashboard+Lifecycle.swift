#if Lifecycle
public import ServiceLifecycle

/// A dashboard in a group of services.
public struct DashboardService: Service {
    private let dashboard: Dashboard
    private let port: Int

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - dashboard: The page that the service serves.
    ///   - port: The port of 127.0.0.1; 0 for any free port.
    public init(_ dashboard: Dashboard, port: Int = 8080) { (self.dashboard, self.port) = (dashboard, port) }

    /// Serves the page until the task is cancelled, or the group shuts down.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { try await dashboard.run(port: port) }
    }
}
#endif
