#if Networking
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A form whose fields may be files (`multipart/form-data`, RFC 7578; rule R11). It is sent piece by piece: files are
/// not read into memory, and still the length of the whole is known before.
public struct MultipartForm: Hashable, Sendable, Codable {
    public enum Content: Hashable, Sendable, Codable {
        case data(Data)
        /// Of the length it has when the request starts.
        case file(path: String)
    }

    public struct Part: Hashable, Sendable, Codable {
        public var name: String
        /// What the file is called there; nil for a plain field.
        public var fileName: String?
        public var contentType: String?
        public var content: Content

        public init(_ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil) {
            self.name = name
            self.content = content
            self.fileName = fileName
            self.contentType = contentType
        }
    }

    public var parts: [Part]

    public init(_ parts: [Part] = []) { self.parts = parts }

    public mutating func append(_ name: String, _ value: String) {
        parts.append(Part(name, .data(Data(value.utf8))))
    }

    public mutating func append(_ name: String, _ data: Data, fileName: String?, contentType: String? = nil) {
        parts.append(Part(name, .data(data), fileName: fileName, contentType: contentType))
    }

    /// The file is called there what it is called here, unless `fileName` says something else.
    public mutating func append(_ name: String, filePath: String, fileName: String? = nil, contentType: String? = nil) {
        let ownName = filePath.split(separator: "/").last.map(String.init) ?? "file"
        parts.append(
            Part(
                name, .file(path: filePath), fileName: fileName ?? ownName,
                contentType: contentType ?? "application/octet-stream"))
    }
}
#endif
