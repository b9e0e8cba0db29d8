import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine

/// The descriptors that a run leaves open in this process.
@Suite(.runFolder, .timeLimit(.minutes(2))) struct DescriptorTests {
    @Test func `many steps leave no descriptor open`() async throws {
        let folder = RunFolder.current.root
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            try await RunFolder.$current.withValue(RunFolder(root: folder)) {
                func count() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                }
                _ = await mixedRun(2)
                let before = try count()
                _ = await mixedRun(60)
                let after = try count()
                precondition(before == after, "\(before) and \(after)")
            }
        }
    }
}

/// A run of `count` steps that print, fail to start, or are stopped.
private func mixedRun(_ count: Int) async -> RunOutcome {
    await run(
        (0..<count).map { number in
            switch number % 3 {
            case 0: .shell("s\(number)", "echo x")
            case 1: PlannedStep(name: "s\(number)", action: .command(["no-such-program"]))
            default: .shell("s\(number)", "sleep 60") { $0.timeout = 0.02 }
            }
        })
}
