#if Networking
public import HTTPCore
import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Requests whose answer is read as the client reads values, and whose body it writes (rule N1):
//
//     let user: User = try await client.get("/users/1").value
//     let saved: User = try await client.put("/users/1", encoding: user).value
//
// The value's type says how: `Data` is the body as it is, `String` its text, everything else is decoded by `coding`.
extension HTTPClientQueue {
    /// How values are written and read; JSON, unless it is set. Holds for requests that are made from then on.
    public var coding: any HTTPCoding {
        get { settings.withLock { $0.coding } }
        set {
            let old = settings.withLock { settings in
                defer { settings.coding = newValue }
                return settings.coding
            }
            withExtendedLifetime(old) {}
        }
    }

    public func load<Value: Decodable & Sendable>(
        _ request: HTTPOperationRequest, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        load(request, as: serializer(), priority: priority)
    }

    public func get<Value: Decodable & Sendable>(
        _ url: String, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        get(url, as: serializer(), priority: priority)
    }

    public func delete<Value: Decodable & Sendable>(
        _ url: String, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        delete(url, as: serializer(), priority: priority)
    }

    /// - Throws: What encoding the value throws; then nothing is sent.
    public func post<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPToken<Value> {
        post(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    /// - Throws: What encoding the value throws; then nothing is sent.
    public func put<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPToken<Value> {
        put(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    /// - Throws: What encoding the value throws; then nothing is sent.
    public func patch<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPToken<Value> {
        patch(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    // MARK: - Bodies that bring their type

    /// A body such as `.text("…")`, `.form(["q": "swift"])` or `try .json(value)`.
    public func post<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        post(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    public func put<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        put(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    public func patch<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        patch(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    /// What makes values of this type.
    func serializer<Value: Decodable & Sendable>(of type: Value.Type = Value.self) -> HTTPSerializer<Value> {
        if let data = HTTPSerializer<Data>.data as? HTTPSerializer<Value> { return data }
        if let text = HTTPSerializer<String>.text as? HTTPSerializer<Value> { return text }
        return coding.serializer(of: type)
    }
}
#endif
