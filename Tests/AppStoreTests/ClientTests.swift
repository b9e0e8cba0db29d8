import Foundation
import NIOHTTP1
import Synchronization
import TestForge
import Testing

@testable import AppStore

@Suite struct ClientTests {
    /// A client at a server that gives these answers in turn, the last one for ever.
    private func use(
        _ answers: [ForgeDouble.Answer], _ body: (AppStoreClient, Recorded<Duration>) async throws -> Void
    ) async throws -> [ForgeDouble.Asked] {
        let rest = Mutex(answers)
        let server = try await ForgeDouble { _ in
            rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
        let slept = Recorded<Duration>()
        try await body(try Fixture.client(server.url, slept: slept), slept)
        try await server.close()
        return server.requests
    }

    @Test(.timeLimit(.minutes(1)))
    func `a request without effect is sent again after an answer that was lost or late`() async throws {
        let asked = try await use([.cut, .json(503, "{}"), .json(500, "{}"), .json(200, Fixture.none)]) {
            client, slept in
            #expect(try await client.all(.get("/v1/apps"), NoAttributes.self).isEmpty)
            #expect(slept.all == [.seconds(1), .seconds(2), .seconds(4)])
        }
        #expect(asked.count == 4)
    }

    @Test(.timeLimit(.minutes(1))) func `Apple's pause is kept, and a limit without one has a long pause`() async throws
    {
        let limit = #"{"errors":[{"status":"429","code":"RATE_LIMIT_EXCEEDED","title":"limit"}]}"#
        _ = try await use([
            .json(429, limit, headers: ["Retry-After": "7"]),
            .json(429, limit, headers: ["X-Rate-Limit": "user-hour-lim:3600;user-hour-rem:0;"]),
            .json(200, Fixture.none),
        ]) { client, slept in
            _ = try await client.send(.get("/v1/apps"))
            #expect(slept.all == [.seconds(7), AppStorePauses().limited])
        }
    }

    @Test func `the rate limit's header is read`() {
        let limit = AppStoreLimit("user-hour-lim:3600;user-hour-rem:3545;")
        #expect(limit.most == 3_600 && limit.remaining == 3_545)
        #expect(AppStoreLimit("nonsense") == AppStoreLimit(""))
    }

    @Test(.timeLimit(.minutes(1))) func `a refused token is renewed once`() async throws {
        let asked = try await use([.json(401, "{}"), .json(401, "{}"), .json(200, Fixture.none)]) { client, _ in
            let error = await #expect(throws: AppStoreError.self) { try await client.send(.get("/v1/apps")) }
            #expect(error?.code == .unauthorized)
        }
        #expect(asked.count == 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `what makes something is not sent blindly again, but looked for`() async throws {
        struct Made: Codable, Sendable { var name: String? }
        let found = Mutex(0)
        let asked = try await use([.cut]) { client, _ in
            let value = try await client.findOrMake {
                found.withLock { count in
                    count += 1
                    return count > 1 ? "found" : nil
                }
            } make: {
                _ = try await client.send(.make("/v1/buildUploads", AppStoreDraft("buildUploads", Made(name: "a"))))
                return "made"
            }
            #expect(value == "found")
        }
        #expect(asked.map(\.method) == ["POST"])
    }

    @Test(.timeLimit(.minutes(1))) func `a next page at another host is not asked for`() async throws {
        let page = #"{"data":[],"links":{"self":"/","next":"https://elsewhere.example/v1/apps?cursor=1"}}"#
        let asked = try await use([.json(200, page)]) { client, _ in
            let error = await #expect(throws: AppStoreError.self) {
                try await client.all(.get("/v1/apps"), NoAttributes.self)
            }
            #expect(error?.code == .badAnswer)
        }
        #expect(asked.count == 1)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (403, AppStoreError.Code.forbidden), (404, .notFound), (409, .conflict), (422, .refused),
        ])
    func `a status has its code, and Apple's words are on one line`(pair: (Int, AppStoreError.Code)) async throws {
        let body = #"{"errors":[{"title":"t","detail":"first\nline\u001b[31m"}]}"#
        _ = try await use([.json(pair.0, body)]) { client, _ in
            let error = await #expect(throws: AppStoreError.self) { try await client.send(.get("/v1/apps")) }
            #expect(error?.code == pair.1)
            let text = try #require(error?.description)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 })
        }
    }

    @Test func `values of a query are escaped`() {
        #expect(
            AppStoreRequest.get("/v1/apps", ["filter[bundleId]": "a&b=c d"]).target
                == "/v1/apps?filter%5BbundleId%5D=a%26b%3Dc%20d")
    }
}
