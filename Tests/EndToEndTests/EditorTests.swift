import TestBasics
import Foundation
import Testing
import TestSupport

/// Completion and jump to definition in `workflows/`, with the language server that editors use.
@Suite(.timeLimit(.minutes(10))) struct EditorTests {
    @Test func `the language server finds the Pipeline module`() async throws {
        try await Bench.with { bench in
            let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "script/editor-check").path
            let checked = try await bench.command([script, Bench.pipectl])
            #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
        }
    }
}
