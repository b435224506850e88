public import HTTPCore
import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Requests that use the client's coding for the body and for the response:
//
//     let user: User = try await client.get("/users/1").value
//     let saved: User = try await client.put("/users/1", encoding: user).value
//
// The type of the value selects the treatment: `Data` is the body itself, `String` its text, and `coding` decodes other types.
extension HTTPClientQueue {
    /// The coding of values in bodies and responses; JSON by default. A change affects requests that are created afterwards.
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

    /// Adds a request, and decodes its response by ``coding``.
    public func load<Value: Decodable & Sendable>(
        _ request: HTTPRequestDescription, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        load(request, as: serializer(), priority: priority)
    }

    /// Adds a GET request, and decodes its response by ``coding``.
    public func get<Value: Decodable & Sendable>(
        _ url: String, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        get(url, as: serializer(), priority: priority)
    }

    /// Adds a DELETE request, and decodes its response by ``coding``.
    public func delete<Value: Decodable & Sendable>(
        _ url: String, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        delete(url, as: serializer(), priority: priority)
    }

    /// Adds a POST request whose body is `value` in the client's ``coding``.
    ///
    /// - Throws: The error of encoding the value. The request is not sent then.
    public func post<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPRequestHandle<Value> {
        post(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    /// Adds a PUT request whose body is `value` in the client's ``coding``.
    ///
    /// - Throws: The error of encoding the value. The request is not sent then.
    public func put<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPRequestHandle<Value> {
        put(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    /// Adds a PATCH request whose body is `value` in the client's ``coding``.
    ///
    /// - Throws: The error of encoding the value. The request is not sent then.
    public func patch<Value: Decodable & Sendable>(
        _ url: String, encoding value: some Encodable, priority: Operation.QueuePriority = .normal
    ) throws -> HTTPRequestHandle<Value> {
        patch(url, try coding.encoded(value), as: serializer(), priority: priority)
    }

    // MARK: - Bodies with a type of their own

    /// Adds a POST request with a body such as `.text("…")`, `.form(["q": "swift"])` or `try .json(value)`.
    public func post<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        post(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    /// Adds a PUT request with a body that has its own content type.
    public func put<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        put(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    /// Adds a PATCH request with a body that has its own content type.
    public func patch<Value>(
        _ url: String, _ body: EncodedBody, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        patch(url, .bytes(body.bytes), type: body.contentType, as: serializer, priority: priority)
    }

    /// Returns the serializer for values of a type.
    func serializer<Value: Decodable & Sendable>(of type: Value.Type = Value.self) -> HTTPSerializer<Value> {
        if let data = HTTPSerializer<Data>.data as? HTTPSerializer<Value> { return data }
        if let text = HTTPSerializer<String>.text as? HTTPSerializer<Value> { return text }
        return coding.serializer(of: type)
    }
}
