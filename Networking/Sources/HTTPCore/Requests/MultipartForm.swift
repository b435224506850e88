#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A form whose fields can be files (`multipart/form-data`, RFC 7578). The client sends the form piece by piece. The
/// client does not read complete files into memory, and knows the length of the form before the first piece.
public struct MultipartForm: Hashable, Sendable, Codable {
    /// The content of a field.
    public enum Content: Hashable, Sendable, Codable {
        /// Bytes in memory.
        case data(Data)
        /// The content of a file. The request determines the file's length when the request starts.
        case file(path: String)
    }

    /// A field of a form.
    public struct Part: Hashable, Sendable, Codable {
        /// The name of the field.
        public var name: String
        /// The file name that the server receives, or nil for a plain field.
        public var fileName: String?
        /// The media type of the content, or nil to send no type.
        public var contentType: String?
        /// The content of the field.
        public var content: Content

        /// Creates a field.
        public init(_ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil) {
            self.name = name
            self.content = content
            self.fileName = fileName
            self.contentType = contentType
        }
    }

    /// The fields of the form, in the order of sending.
    public var parts: [Part]

    /// Creates a form.
    public init(_ parts: [Part] = []) { self.parts = parts }

    /// Adds a plain field.
    public mutating func append(_ name: String, _ value: String) {
        parts.append(Part(name, .data(Data(value.utf8))))
    }

    /// Adds a field with data in memory.
    public mutating func append(_ name: String, _ data: Data, fileName: String?, contentType: String? = nil) {
        parts.append(Part(name, .data(data), fileName: fileName, contentType: contentType))
    }

    /// Adds a file. The server receives the last component of `filePath` as file name, unless `fileName` is set. The
    /// default content type is `application/octet-stream`.
    public mutating func append(_ name: String, filePath: String, fileName: String? = nil, contentType: String? = nil) {
        let ownName = filePath.split(separator: "/").last.map(String.init) ?? "file"
        parts.append(
            Part(
                name, .file(path: filePath), fileName: fileName ?? ownName,
                contentType: contentType ?? "application/octet-stream"))
    }
}
