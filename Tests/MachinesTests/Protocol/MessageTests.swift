import Foundation
import Sandbox
import Testing

@testable import Engine
@testable import MachineProtocol

/// What a machine says is checked where it is read.
struct MessageTests {
    private func report(_ fields: String) throws -> AttemptReport {
        try Wire.value(from: Array(#"{\#(fields), "wasKilled": false, "limits": [0, 0, 0, 0, 0]}"#.utf8))
    }

    @Test(arguments: [
        #""exitCode": 256"#, #""exitCode": -1"#, #""exitCode": 2147483648"#, #""signal": 0"#, #""signal": 128"#,
        #""signal": 2147483647"#,
    ]) func `an end that no process has is refused`(_ fields: String) {
        #expect(throws: DecodingError.self) { try report(fields) }
    }

    @Test(arguments: [
        (#""exitCode": 255"#, ProcessEnd(exitCode: 255)), (#""signal": 9"#, ProcessEnd(signal: 9)),
        (#""exitCode": null"#, ProcessEnd()),
    ]) func `an end that a process can have is read`(_ fields: String, _ end: ProcessEnd) throws {
        #expect(try report(fields).end(asked: nil).process == end)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, 1e300, -1e300] as [Double])
    func `a time that no clock shows is refused`(_ seconds: Double) throws {
        let opened = OpenedPlace(begunAt: Date(timeIntervalSinceReferenceDate: seconds), workspacePaths: [])
        let bytes = try Wire.bytes(opened)
        #expect(throws: DecodingError.self) { try Wire.value(OpenedPlace.self, from: bytes) }
    }

    @Test(arguments: [(0, 1), (-1, 1), (.max, 1), (1, -1), (1, .max)] as [(Int, Int)])
    func `a machine that can't exist is refused`(_ cores: Int, _ memory: Int) throws {
        let bytes = try Wire.bytes(
            AgentGreeting(platform: "linux", architecture: "x86_64", cores: cores, memory: memory))
        #expect(throws: DecodingError.self) { try Wire.value(AgentGreeting.self, from: bytes) }
    }
}
