import Testing

@testable import Pipeline

@Suite struct AllowedHostTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com", 443), ("API.Example.COM.", "api.example.com", 443),
        ("models.example.com:8443", "models.example.com", 8443), ("a-b.c1.io", "a-b.c1.io", 443),
    ])
    func readsNames(_ text: String, _ name: String, _ port: Int) throws {
        let host = try AllowedHost(text)
        #expect(host.name == name)
        #expect(Int(host.port) == port)
    }

    @Test(arguments: [
        "", ".", "localhost", "example", "a..b.com", "-a.example.com", "a b.example.com", "*.example.com",
        "ex\u{E4}mple.com", "user@example.com", "example.com/path", "https://example.com",
        String(repeating: "a", count: 64) + ".com",
    ])
    func refusesWhatIsNoName(_ text: String) {
        #expect { try AllowedHost(text) } throws: { ($0 as? AllowedHostProblem)?.reason != nil }
    }

    @Test(arguments: ["127.0.0.1", "10.1", "0x7f.0x1", "1.2.3.4.", "example.com.1"])
    func refusesAddresses(_ text: String) {
        #expect { try AllowedHost(text) } throws: { ($0 as? AllowedHostProblem)?.reason == .address }
    }

    @Test(arguments: ["example.com:", "example.com:0", "example.com:65536", "example.com:x"])
    func refusesPorts(_ text: String) {
        #expect { try AllowedHost(text) } throws: { ($0 as? AllowedHostProblem)?.reason == .noPort }
    }
}
