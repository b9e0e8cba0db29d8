import AppStore
import Crypto
import Foundation
import Testing

@testable import TaskService

@Suite struct TestFlightHookTests {
    private static let secret = "a-secret-for-apple"

    private func signed(_ body: String, _ secret: String = secret) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(body.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return "hmacsha256=" + code.map { String(format: "%02x", $0) }.joined()
    }

    private func feedback(_ type: String = "betaFeedbackCrashSubmissionCreated", id: String = "AB-1") -> String {
        """
        {"data": {"type": "\(type)", "id": "1", "version": 1, "attributes": {"timestamp": "2026-11-26T10:00:00Z"},
        "relationships": {"instance": {"data": {"type": "betaFeedbackCrashSubmissions", "id": "\(id)"}}}}}
        """
    }

    private func answer(
        _ hook: TestFlightHook, _ body: String, signature: String?, target: String = "/hooks/app-store/shop",
        method: String = "POST"
    ) async -> Int {
        await hook.answer(method: method, target: target, signature: signature, body: Data(body.utf8)).0
    }

    @Test(.timeLimit(.minutes(1))) func `a signed delivery has the submissions read`() async {
        let notices = TestFlightNotices()
        let hook = TestFlightHook(notices: notices) { $0 == "shop" ? Array((Self.secret + "\n").utf8) : nil }
        let body = feedback()
        #expect(await answer(hook, body, signature: signed(body)) == 200)
        // It was told: the wait ends at once.
        await notices.wait()
        #expect(await answer(hook, body, signature: signed(body), target: "/hooks/app-store/sh%6Fp") == 200)
    }

    @Test func `who does not know the secret is not heard`() async {
        let hook = TestFlightHook(notices: TestFlightNotices()) { $0 == "shop" ? Array(Self.secret.utf8) : nil }
        let body = feedback()
        for signature in [nil, "", "hmacsha256=", signed(body, "another-secret"), String(signed(body).dropFirst(11))] {
            #expect(await answer(hook, body, signature: signature) == 401)
        }
        #expect(await answer(hook, body + " ", signature: signed(body)) == 401)
        #expect(await answer(hook, body, signature: signed(body), target: "/hooks/app-store/other") == 401)
        #expect(await answer(hook, body, signature: signed(body), target: "/hooks/app-store/shop/x") == 401)
        #expect(await answer(hook, body, signature: signed(body), method: "GET") == 405)
        #expect(await answer(hook, "[]", signature: signed("[]")) == 400)
    }

    @Test func `what a delivery is about`() throws {
        #expect(AppStoreNotice(Data(feedback().utf8)) == .feedback(.crash, id: "AB-1"))
        #expect(AppStoreNotice(Data(feedback("buildUploadStateUpdated").utf8)) == .nothing)
        #expect(AppStoreNotice(Data(feedback(id: "../../v1/apps").utf8)) == .nothing)
        #expect(AppStoreNotice(Data(feedback(id: "").utf8)) == .nothing)
        #expect(AppStoreNotice(Data("{\"data\": 7}".utf8)) == nil)
        #expect(AppStoreNotice(Data(String(repeating: "[", count: 100_000).utf8)) == nil)
    }
}
