import AppStore
import Foundation
import HTTPTypes
import Hummingbird
package import Listening
import NIOCore

/// Hears App Store Connect's webhooks, each for one repository. What they say is only a hint.
package struct TestFlightHook: Sendable {
    /// The name of the secret that Apple signs with.
    package static let secretName = "APP_STORE_WEBHOOK_SECRET"
    /// The path; the repository's name follows.
    package static let path = "/hooks/app-store/"
    /// Bytes of a delivery.
    static let mostBytes = 64 << 10

    let notices: TestFlightNotices
    /// The secret of a repository that wants to hear; nil: none.
    let secret: @Sendable (_ repository: String) async -> [UInt8]?

    package init(notices: TestFlightNotices, secret: @escaping @Sendable (_ repository: String) async -> [UInt8]?) {
        (self.notices, self.secret) = (notices, secret)
    }

    /// Answers Apple's deliveries, and hands all other requests on.
    package func responder(others: @escaping WebServer.Responder) -> WebServer.Responder {
        { request, source in
            guard request.head.path?.hasPrefix(Self.path) == true else { return await others(request, source) }
            guard let body = try? await request.body.collect(upTo: Self.mostBytes) else {
                return Self.response(413, "deliveries may have \(Self.mostBytes >> 10) KiB")
            }
            let field = HTTPField.Name("x-apple-signature")
            let (status, text) = await answer(
                method: request.method.rawValue, target: request.head.path ?? "",
                signature: field.flatMap { request.headers[$0] }, body: Data(body.readableBytesView))
            return Self.response(status, text)
        }
    }

    /// The status and the words for a delivery.
    func answer(method: String, target: String, signature: String?, body: Data) async -> (Int, String) {
        guard method == "POST" else { return (405, "send a POST") }
        let path = target.prefix { $0 != "?" }.dropFirst(Self.path.count)
        // Who may not know the secret does not learn which repositories there are either.
        guard path.utf8.count <= 2_000, !path.contains("/"), let name = String(path).removingPercentEncoding,
            let bytes = await secret(name),
            AppStoreNotice.isSigned(
                body, signature,
                secret: String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { return (401, "the signature does not hold") }
        guard let notice = AppStoreNotice(body) else { return (400, "the delivery can't be read") }
        guard case .feedback = notice else { return (200, "of no concern") }
        notices.tell()
        return (200, "taken")
    }

    private static func response(_ status: Int, _ text: String) -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
