import OperationsNetworking

extension Row {
    static func oneAddress(_ scale: Scale) -> Row {
        let work = OneAddress(count: scale.requests)
        return Row(
            number: 4, question: "one address", work: "\(work.count) concurrent requests for one address",
            reference: .bare, measures: [.time, .transfers],
            entries: [
                Entry(contender: .queue, bars: [.atMost(1, .transfers)], measure: work.shared),
                Entry(contender: .bare, manner: "each for itself", measure: work.eachForItself),
            ])
    }
}

/// Requests for one address, all made before the first one begins. Each request gets the whole response.
struct OneAddress {
    let count: Int

    func shared(_ site: Site) async throws -> Sample {
        let before = try await site.requestCount
        let watch = Stopwatch()
        let client = try HTTPClientQueue(
            maxConcurrentRequests: SmallRequests.width, maxConcurrentRequestsPerHost: SmallRequests.width,
            session: SmallRequests.session)
        client.isSuspended = true
        let address = "\(site.address)/small/0"
        let tokens = (0..<count).map { _ in client.get(address, as: .data) }
        client.isSuspended = false
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for token in tokens { group.addTask { try await token.value.count } }
            return try await group.reduce(0, +)
        }
        var sample = watch.sample
        guard bytes == count * Content.smallSize else { throw WorkMissing("\(bytes) bytes arrived") }
        sample[.transfers] = Double(try await site.requestCount - before - 1)
        return sample
    }

    func eachForItself(_ site: Site) async throws -> Sample {
        let work = SmallRequests(count: count)
        var sample = try await work.checked(site, work.bare)
        sample[.transfers] = Double(count)
        return sample
    }
}
