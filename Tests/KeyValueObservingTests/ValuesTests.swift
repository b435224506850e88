import KeyValueObserving
import TestSupport
import Testing

/// Rule K8: the values as an asynchronous sequence.
struct ValuesTests {
    @Test func `the sequence begins with the present value, has every value if requested, and ends with the object`()
        async
    {
        var thermometer: Thermometer? = Thermometer()
        let values = thermometer!.values(for: \.celsius, bufferingPolicy: .unbounded)
        var iterator = values.makeAsyncIterator()
        thermometer!.celsius = 21
        thermometer!.celsius = 22
        thermometer = nil
        var seen: [Double] = []
        while let value = await iterator.next() { seen.append(value) }
        #expect(seen == [20, 21, 22])
    }

    @Test func `a slow reader receives the newest value`() async {
        let thermometer = Thermometer()
        var iterator = thermometer.values(for: \.celsius).makeAsyncIterator()
        for celsius in 1...5 { thermometer.celsius = Double(celsius) }
        #expect(await iterator.next() == 5)
    }

    @Test func `the sequence of a deallocated object is empty`() async {
        var thermometer: Thermometer? = Thermometer()
        let values = thermometer!.values(for: \.celsius)
        thermometer = nil
        for await _ in values { Issue.record("a value of nothing") }
    }

    @Test func `a cancelled task receives no more values and leaves no observer behind`() async {
        let thermometer = Thermometer()
        let (began, log) = (AsyncStream.makeStream(of: Void.self), Journal<Double>())
        let values = thermometer.values(for: \.celsius, bufferingPolicy: .unbounded)
        let task = Task {
            for await value in values {
                log.append(value)
                began.continuation.yield()
            }
        }
        for await _ in began.stream { break }
        task.cancel()
        await task.value
        thermometer.celsius = 1
        #expect(log.entries == [20])
        #expect(thermometer.keyValueRegistrar.isEmpty)
    }
}
