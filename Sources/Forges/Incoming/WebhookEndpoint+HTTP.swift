import Foundation
import HTTPTypes
import Hummingbird
public import Listening
import NIOCore

extension WebhookEndpoint {
    /// Answers deliveries over HTTP.
    ///
    /// - Parameter others: Answers requests whose path does not begin with `/hooks/`; nil: they are refused.
    public func responder(others: WebServer.Responder? = nil) -> WebServer.Responder {
        { request, source in
            if let others, request.head.path?.hasPrefix("/hooks/") != true { return await others(request, source) }
            return await self.respond(request)
        }
    }

    private func respond(_ request: Request) async -> Response {
        var headers: [String: String] = [:]
        for field in request.headers where headers[field.name.canonicalName] == nil {
            headers[field.name.canonicalName] = field.value
        }
        let path = request.head.path ?? ""
        if let refusal = refusal(method: request.method.rawValue, path: path, headers: headers) {
            return response(refusal, closes: true)
        }
        do {
            let body = try await request.body.collect(upTo: Self.mostBytes)
            return response(
                self.answer(path: path, headers: headers, body: Data(body.readableBytesView)), closes: false)
        } catch is NIOTooManyBytesError {
            return response(Self.tooLarge, closes: true)
        } catch {
            return response(Answer(status: 400, text: "the body did not arrive"), closes: true)
        }
    }

    /// - Parameter closes: What is left of a body that nobody wants is not read.
    private func response(_ answer: Answer, closes: Bool) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
        if closes { headers[.connection] = "close" }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.text + "\n")))
    }
}
