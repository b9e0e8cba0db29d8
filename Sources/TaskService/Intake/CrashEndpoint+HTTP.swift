import Foundation
import HTTPTypes
import Hummingbird
package import Listening
import NIOCore

extension CrashEndpoint {
    /// Answers reports over HTTP, and hands all other requests on.
    package func responder(others: @escaping WebServer.Responder) -> WebServer.Responder {
        { request, source in
            guard Self.isMeant(request.head.path) else { return await others(request, source) }
            return Self.response(await respond(request, source))
        }
    }

    private func respond(_ request: Request, _ source: String) async -> Answer {
        var headers: [String: String] = [:]
        for field in request.headers where headers[field.name.canonicalName] == nil {
            headers[field.name.canonicalName] = field.value
        }
        let admitted = await admit(
            method: request.method.rawValue, target: request.head.path ?? "", headers: headers, address: source)
        switch admitted {
        case .failure(let refusal): return refusal.answer
        case .success(let repository):
            guard gate.begin() else {
                return AnswerError.refused(503, "too many reports arrive at once; send it again later", retryAfter: 5)
                    .answer
            }
            defer { gate.end() }
            do {
                let body = try await request.body.collect(upTo: Self.mostBodyBytes)
                return await answer(Data(body.readableBytesView), for: repository)
            } catch is NIOTooManyBytesError {
                return AnswerError.tooLarge.answer
            } catch {
                return AnswerError.refused(400, "the body did not arrive").answer
            }
        }
    }

    private static func response(_ answer: Answer) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        if answer.closes { headers[.connection] = "close" }
        if let pause = answer.retryAfter { headers[.retryAfter] = "\(pause)" }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body + "\n")))
    }
}
