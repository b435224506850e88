import HTTPCore
import HTTPTypes
import NIOHTTP1

extension HTTPHeaders {
    init(_ fields: HTTPFields) {
        self.init()
        reserveCapacity(fields.count)
        for field in fields { add(name: field.name.rawName, value: field.value) }
    }
}

extension HTTPResponse {
    /// Creates the head of a response. Fields with invalid names are omitted.
    init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        // HTTP/2 can carry any number. A number with more than three digits becomes 999.
        let code = Int(status.code)
        self.init(
            status: HTTPResponse.Status(code: 0...999 ~= code ? code : 999, reasonPhrase: status.reasonPhrase))
        headerFields.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { headerFields.append(HTTPField(name: name, value: value)) }
        }
    }

    /// The length of the body according to the server; nil if the server does not state it.
    var contentLength: Int64? { headerFields[.contentLength].flatMap { Int64($0) } }
}
