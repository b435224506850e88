import DashboardCore
import Testing

@Suite struct MetricReadingTests {
    private func texts(_ overview: JSON) -> [String] {
        MetricReading.all(of: overview).map { reading in
            "\(reading.key.label){\(reading.key.dimensions.map { "\($0.name)=\($0.value)" }.joined(separator: ","))} \(reading.value)"
        }
    }

    @Test func `a queue has its depth by state, its oldest operation and its settings`() {
        let overview = JSON.members([
            "kind": .text("queue"), "name": .text("pages"), "running": .number(2), "ready": .number(3),
            "waiting": .number(4), "oldest": .decimal(1.5), "rate": .null, "limit": .text("default"),
            "suspended": .boolean(true), "stall": .null,
        ])
        #expect(
            texts(overview) == [
                "operations_depth{queue=pages,state=running} 2.0", "operations_depth{queue=pages,state=ready} 3.0",
                "operations_depth{queue=pages,state=waiting} 4.0", "operations_oldest_seconds{queue=pages} 1.5",
                "operations_suspended{queue=pages} 1.0", "operations_stalled{queue=pages} 0.0",
            ])
    }

    @Test func `the address of a queue is no dimension, and a released queue has no numbers`() {
        let unnamed = JSON.members([
            "kind": .text("queue"), "name": .text("NSOperationQueue 0x00007f"), "running": .number(1),
        ])
        #expect(texts(unnamed).first == "operations_depth{queue=unnamed,state=running} 1.0")
        #expect(texts(.members(["id": .text("s0"), "gone": .boolean(true)])).isEmpty)
    }

    @Test func `a store has its depth by queue and state, its workers and its schedules`() {
        let overview = JSON.members([
            "kind": .text("durable"), "name": .text("orders"),
            "queues": .list([
                .members([
                    "name": .text("mail"), "suspended": .boolean(false), "limit": .number(8), "oldest": .null,
                    "counts": .list([
                        .list([.text("ready"), .number(7)]), .list([.text("failed"), .number(1)]),
                    ]),
                ])
            ]),
            "workers": .list([
                .members(["name": .text("host-1"), "running": .number(2), "lease": .decimal(-3)])
            ]),
            "schedules": .list([.members(["name": .text("nightly"), "next": .decimal(60)])]),
        ])
        #expect(
            texts(overview) == [
                "durable_depth{store=orders,queue=mail,state=ready} 7.0",
                "durable_depth{store=orders,queue=mail,state=failed} 1.0",
                "durable_oldest_ready_seconds{store=orders,queue=mail} 0.0",
                "durable_limit{store=orders,queue=mail} 8.0", "durable_suspended{store=orders,queue=mail} 0.0",
                "durable_workers{store=orders} 1.0", "durable_worker_running{store=orders,worker=host-1} 2.0",
                "durable_worker_lease_seconds{store=orders,worker=host-1} -3.0",
                "durable_schedule_next_seconds{store=orders,schedule=nightly} 60.0",
            ])
    }

    @Test func `a report has its states and the time left`() {
        let overview = JSON.members([
            "kind": .text("report"), "name": .text("digest"), "running": .number(1), "left": .decimal(9),
        ])
        #expect(
            texts(overview)
                == ["report_depth{report=digest,state=running} 1.0", "report_left_seconds{report=digest} 9.0"])
    }
}
