/// The id of a request, which its sender chose.
enum RequestID: Hashable, Sendable {
    case number(Int)
    case text(String)

    init?(_ json: JSON?) {
        if let number = json?.integer {
            self = .number(number)
        } else if let text = json?.string {
            self = .text(text)
        } else {
            return nil
        }
    }

    var json: JSON {
        switch self {
        case .number(let number): .integer(number)
        case .text(let text): .string(text)
        }
    }
}

/// One line from a client.
enum Message: Sendable {
    case request(Request)
    case notification(method: String, params: JSON)
    /// An answer to a request of ours. The server makes no requests.
    case response
    /// Not a valid message. `id` is the id if it could be read.
    case invalid(RPCError, id: JSON)

    init(line: [UInt8]) {
        let json: JSON
        do { json = try JSON(parsing: line) } catch {
            let text = "this line of \(line.count) bytes is not JSON. Send one JSON-RPC message and a line feed."
            self = .invalid(RPCError(RPCError.parse, text), id: .null)
            return
        }
        guard let members = json.object else {
            let text = "a message is one JSON object; arrays of messages are no longer part of the protocol."
            self = .invalid(RPCError(RPCError.invalidRequest, text), id: .null)
            return
        }
        let id = members["id"]
        func refuse(_ why: String) -> Message {
            .invalid(RPCError(RPCError.invalidRequest, why), id: RequestID(id)?.json ?? .null)
        }
        guard members["jsonrpc"]?.string == "2.0" else {
            self = refuse("the field \"jsonrpc\" is not \"2.0\".")
            return
        }
        guard let method = members["method"]?.string else {
            let isAnswer = members["result"] != nil || members["error"] != nil
            self = isAnswer ? .response : refuse("the field \"method\" is missing.")
            return
        }
        let params = members["params"] ?? .object([:])
        guard params.object != nil else {
            self = refuse("the field \"params\" is not an object.")
            return
        }
        guard let id else {
            self = .notification(method: method, params: params)
            return
        }
        guard let id = RequestID(id) else {
            self = refuse("the field \"id\" is neither a string nor a whole number.")
            return
        }
        self = .request(Request(id: id, method: method, params: params))
    }
}

/// A request that expects an answer.
struct Request: Sendable {
    var id: RequestID
    var method: String
    /// Always an object.
    var params: JSON

    /// Identifies the request's progress messages; nil if the client wants none.
    var progressToken: JSON? {
        guard let token = params["_meta"]?[MetaKey.progressToken], RequestID(token) != nil else { return nil }
        return token
    }
}
