/// Why a request can't be answered. The codes are those of JSON-RPC and of the protocol.
public struct RPCError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One of the codes below.
    public var code: Int
    /// What is wrong and what to do next.
    public var message: String
    /// Facts for programs; nil if there are none.
    public var data: JSON?

    public init(_ code: Int, _ message: String, data: JSON? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// The message is not JSON.
    public static let parse = -32700
    /// The message is not a valid request.
    public static let invalidRequest = -32600
    /// The server has no such method.
    public static let methodNotFound = -32601
    /// The parameters don't fit the method.
    public static let invalidParameters = -32602
    /// The server failed.
    public static let internalError = -32603
    /// An unknown resource, up to revision 2025-11-25. Later revisions use ``invalidParameters``.
    public static let resourceNotFound = -32002
    /// The server does not speak the revision that the request names.
    public static let unsupportedVersion = -32022

    public var description: String { message }

    var json: JSON {
        var members: [String: JSON] = ["code": .integer(code), "message": .string(message)]
        members["data"] = data
        return .object(members)
    }
}
