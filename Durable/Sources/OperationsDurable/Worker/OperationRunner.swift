import DurableCore

/// The code that runs operations of one name.
struct OperationRunner: Sendable {
    let name: String
    /// Decodes the input, runs the operation, and returns the encoded output.
    let run: @Sendable ([UInt8], DurableContext) async throws -> [UInt8]
    let permitsRetry: @Sendable (any Error) -> Bool

    /// - Throws: `DurableError.invalidValue` if the output type cannot be stored.
    init<Work: DurableOperation>(_ type: Work.Type) throws {
        guard Payload.supports(Work.Output.self) else {
            throw DurableError.invalidValue(
                "the output of '\(Work.name)' is of type \(Work.Output.self), which is not Codable")
        }
        name = Work.name
        run = { input, context in
            let work: Work
            do { work = try Payload.decode(Work.self, from: input, of: "input of '\(Work.name)'") } catch {
                throw UndecodableInput(cause: error)
            }
            let output = try await work.run(context)
            return try Payload.encode(output, of: "output of '\(Work.name)'")
        }
        permitsRetry = { Work.permitsRetry(after: $0) }
    }

    /// An input that no attempt can decode.
    struct UndecodableInput: Error {
        let cause: any Error
    }
}
