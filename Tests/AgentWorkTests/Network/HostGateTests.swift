import AgentWork
import Foundation
import Synchronization
import Pipeline
import SystemCalls
import TestBasics
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HostGateTests {
    /// What a client of TLS sends first, as far as the gate looks at it.
    static let hello: [UInt8] = [0x16, 0x03, 0x01, 0x00, 0x02, 0x01, 0x00]

    @Test func letsAnAllowedHostThroughInBothDirections() async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            let answer = try await client.ask("CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            try await client.socket.write(Self.hello + Array("ping".utf8))
            #expect(try await client.bytes(Self.hello.count + 4) == Self.hello + Array("ping".utf8))
            client.socket.endWriting()
            // The other side ends when this one has.
            #expect(try await client.rest() == [])
            #expect(gate.refusals == [])
        }
    }

    @Test(arguments: [
        "CONNECT other.example.com:443 HTTP/1.1", "CONNECT api.example.com:80 HTTP/1.1",
        "CONNECT api.example.com.evil.org:443 HTTP/1.1", "CONNECT 127.0.0.1:443 HTTP/1.1",
        "CONNECT 2130706433:443 HTTP/1.1", "CONNECT 0x7f.1:443 HTTP/1.1", "CONNECT [::1]:443 HTTP/1.1",
        "CONNECT localhost:443 HTTP/1.1", "CONNECT 169.254.169.254:443 HTTP/1.1",
        "CONNECT api.example.com@127.0.0.1:443 HTTP/1.1", "CONNECT api.example.com:443:443 HTTP/1.1",
        "CONNECT :443 HTTP/1.1", "CONNECT api.example.com:0 HTTP/1.1",
    ])
    func refusesEverythingElse(_ line: String) async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            let answer = try await client.ask("\(line)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 403 "))
            #expect(gate.refusals.count == 1)
            #expect(gate.connections == 0)
        }
    }

    @Test(arguments: ["GET http://api.example.com/ HTTP/1.1", "CONNECT api.example.com:443", "\u{1B}[2J"])
    func refusesOtherRequests(_ line: String) async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            #expect(try await client.ask("\(line)\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
        }
    }

    @Test func isToldOncePerHost() async throws {
        try await withGate(["api.example.com"]) { gate in
            for _ in 0..<3 {
                _ = try await gate.client().ask("CONNECT evil.example.org:443 HTTP/1.1\r\n\r\n")
            }
            #expect(gate.refusals.map(\.host) == ["evil.example.org:443"])
        }
    }

    @Test func writesNoControlCharactersOfTheClient() async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            let answer = try await client.ask("CONNECT a\u{1B}]0;b\u{7}.example.org:443 HTTP/1.1\r\n\r\n")
            #expect(!answer.unicodeScalars.contains("\u{1B}"))
            #expect(gate.refusals.map(\.host) == ["a]0;b.example.org:443"])
        }
    }

    @Test func tellsNoPartOfANameThatIsTooLong() async throws {
        try await withGate(["api.example.com"]) { gate in
            let name = String(repeating: "a.", count: 125) + "sk-4f9a77c1d2e3b4a5.example.org:443"
            let client = try await gate.client()
            let answer = try await client.ask("CONNECT \(name) HTTP/1.1\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 403 ") && !answer.contains("a.a"))
            #expect(gate.refusals.map(\.host) == ["(a name of \(name.utf8.count) characters)"])
        }
    }

    @Test func refusesANameThatPointsToAPrivateAddress() async throws {
        let gate = TestGate(["api.example.com"], addresses: [[10, 0, 0, 5], [169, 254, 169, 254], [127, 0, 0, 1]])
        try await gate.serving { gate in
            let client = try await gate.client()
            #expect(try await client.ask("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
            #expect(gate.refusals.count == 1)
        }
    }

    @Test func passesNothingOnThatIsNotTLS() async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            _ = try await client.ask("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")
            try await client.socket.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            #expect(try await client.rest() == [])
            #expect(gate.refusals.count == 1)
            #expect(gate.received == [])
        }
    }

    @Test func endsARequestThatNeverEnds() async throws {
        try await withGate(["api.example.com"]) { gate in
            let client = try await gate.client()
            // More than a head may have. The gate may close while this is written.
            try? await client.socket.write([UInt8](repeating: UInt8(ascii: "a"), count: 20_000))
            let answer = String(decoding: try await client.rest(), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "))
        }
        var patience = HostGate.Patience()
        patience.request = .milliseconds(50)
        let gate = TestGate(["api.example.com"], patience: patience)
        try await gate.serving { gate in
            let client = try await gate.client()
            #expect(try await client.rest() == [])
        }
    }

    @Test func connectsSoManyAndNoMore() async throws {
        try await withGate(["api.example.com"]) { gate in
            var clients: [TestGate.Client] = []
            for _ in 0..<64 {
                let client = try await gate.client()
                _ = try await client.ask("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")
                clients.append(client)
            }
            let refused = try await gate.client()
            #expect(String(decoding: try await refused.rest(), as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
            clients.removeLast().socket.close()
            try await eventually {
                try await gate.client().ask("CONNECT api.example.com:443 HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 200 ")
            }
        }
    }

    private func withGate(_ hosts: [String], _ body: @escaping @Sendable (TestGate) async throws -> Void) async throws {
        try await TestGate(hosts).serving(body)
    }
}

@Suite struct PublicAddressTests {
    @Test(arguments: [
        [8, 8, 8, 8], [93, 184, 216, 34], [100, 63, 0, 1], [100, 128, 0, 1], [172, 15, 0, 1], [172, 32, 0, 1],
        [192, 167, 1, 1], [198, 17, 0, 1], [223, 255, 255, 254],
    ])
    func knowsPublicOnes(_ bytes: [UInt8]) { #expect(NetworkTarget(.four(bytes), port: 443).isPublic) }

    @Test(arguments: [
        [0, 0, 0, 0], [10, 255, 0, 1], [100, 64, 0, 1], [127, 1, 2, 3], [169, 254, 169, 254], [172, 16, 0, 1],
        [172, 31, 255, 255], [192, 0, 0, 1], [192, 168, 0, 1], [198, 18, 0, 1], [224, 0, 0, 1], [255, 255, 255, 255],
    ])
    func knowsTheOthers(_ bytes: [UInt8]) { #expect(!NetworkTarget(.four(bytes), port: 443).isPublic) }

    @Test(arguments: [
        ("2606:4700::1111", true), ("2a00:1450:4001:80b::200e", true), ("64:ff9b::808:808", true),
        ("64:ff9b::a00:1", false), ("::1", false), ("::", false), ("::ffff:127.0.0.1", false), ("fe80::1", false),
        ("fd00::1", false), ("ff02::1", false), ("2001:db8::1", false), ("2001::1", false), ("2002:7f00:1::", false),
        ("3fff::1", false), ("fec0::1", false), ("100::1", false),
    ])
    func judgesLongAddresses(_ text: String, _ isPublic: Bool) throws {
        // Digits are not looked up anywhere.
        let target = try #require(try NetworkTarget.resolve(text, port: 443).first)
        #expect(target.isPublic == isPublic)
    }
}
