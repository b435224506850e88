import DashboardCore
import Synchronization

/// The answers to requests, and the frames of the stream.
final class Responder: Sendable {
    private let access: Access
    private let permitsSteering: Bool
    private let sources: @Sendable () -> [any Source]

    init(access: Access, permitsSteering: Bool, sources: @escaping @Sendable () -> [any Source]) {
        (self.access, self.permitsSteering, self.sources) = (access, permitsSteering, sources)
    }

    /// Answers a request: at once on this thread, or later on any thread. Calls `done` once.
    func respond(to request: HTTPRequest, done: @escaping @Sendable (HTTPResponse) -> Void) {
        let setsCookie: Bool
        switch access.decide(request) {
        case .refuse(let status, let text): return done(.message(status, text))
        case .permit(let isFirst): setsCookie = isFirst
        }
        let route: Route
        switch Route.of(request) {
        case .failure(let status): return done(.message(status, status.reason + "."))
        case .success(let found): route = found
        }
        switch route {
        case .page:
            var response = HTTPResponse(.ok, type: "text/html; charset=utf-8", body: PageFiles.html.utf8)
            if setsCookie { response.fields.append(access.cookieField) }
            done(response)
        case .script: done(HTTPResponse(.ok, type: "text/javascript; charset=utf-8", body: PageFiles.script.utf8))
        case .style: done(HTTPResponse(.ok, type: "text/css; charset=utf-8", body: PageFiles.style.utf8))
        case .icon: done(HTTPResponse(.ok, type: "image/svg+xml", body: PageFiles.icon.utf8))
        case .events:
            var response = HTTPResponse(.ok, type: "text/event-stream", body: EventFrames.beginning)
            response.isStream = true
            done(response)
        case .state: overview { done(.json($0)) }
        case .operations(let source, let query): ask(source, .operations(query), done)
        case .operation(let source, let id): ask(source, .operation(id), done)
        case .timeline(let source, let seconds): ask(source, .timeline(seconds: seconds), done)
        case .graph(let source): ask(source, .graph, done)
        case .steer(let source, let command):
            guard permitsSteering else { return done(.message(.forbidden, "The program does not permit changes.")) }
            ask(source, .steer(command), done)
        }
    }

    private func ask(
        _ source: String, _ question: Question, _ done: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        guard let source = sources().first(where: { $0.id == source }) else {
            return done(.message(.notFound, "There is no such queue."))
        }
        source.answer(question) { result in
            switch result {
            case .success(let value): done(.json(value))
            case .failure(let status): done(.message(status, status.reason + "."))
            }
        }
    }

    /// The overviews of all sources. Calls `done` once, on the thread of the last answer.
    func overview(done: @escaping @Sendable (JSON) -> Void) {
        let sources = sources()
        let answers = Answers(count: sources.count) { overviews in
            done(.members(["sources": .list(overviews), "now": .decimal(PageClock.now)]))
        }
        for (index, source) in sources.enumerated() {
            source.answer(.overview) { result in
                answers.set(
                    (try? result.get()) ?? .members(["id": .text(source.id), "gone": .boolean(true)]), at: index)
            }
        }
    }

    func pagesOpened() { for source in sources() { source.open() } }
    func pagesClosed() { for source in sources() { source.close() } }
}

/// A number of answers that arrive in any order.
private final class Answers: Sendable {
    private let state: Mutex<(values: [JSON], left: Int)>
    private let done: @Sendable ([JSON]) -> Void

    init(count: Int, done: @escaping @Sendable ([JSON]) -> Void) {
        state = Mutex((Array(repeating: .null, count: count), count))
        self.done = done
        if count == 0 { done([]) }
    }

    func set(_ value: JSON, at index: Int) {
        let values: [JSON]? = state.withLock { state in
            state.values[index] = value
            state.left -= 1
            return state.left == 0 ? state.values : nil
        }
        if let values { done(values) }
    }
}
