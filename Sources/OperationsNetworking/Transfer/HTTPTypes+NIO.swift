#if Networking
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
    /// The head of a response. Fields whose names are none are left out.
    init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        // Over HTTP/2 any number may come. What is none of three digits is an answer that is none.
        let code = Int(status.code)
        self.init(
            status: HTTPResponse.Status(code: 0...999 ~= code ? code : 999, reasonPhrase: status.reasonPhrase))
        headerFields.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { headerFields.append(HTTPField(name: name, value: value)) }
        }
    }

    /// What the server says that it sends; nil if it does not say.
    var contentLength: Int64? { headerFields[.contentLength].flatMap { Int64($0) } }
}
#endif
