import TestBasics
import Foundation
import TestSupport
import Testing

/// `pipectl init` in a repository, up to the end of the first run.
@Suite(.timeLimit(.minutes(6))) struct InitTests {
    @Test func `the first run tests, and Git ignores the editor's file`() async throws {
        try await Bench.with(["Makefile": "all:\n\ttrue\ncheck:\n\ttest -f passes\n", "passes": ""]) { bench in
            let begun = try await bench.pipectl("init")
            #expect(begun.code == 0, "\(begun.errors)")
            #expect(FileManager.default.fileExists(atPath: "\(bench.repository)/workflows/compile_flags.txt"))
            let status = try await bench.git(["status", "--porcelain", "--untracked-files=all"])
            #expect(!status.contains("compile_flags"))
            #expect(status.contains("workflows/test.swift"))
            #expect(try await bench.pipectl("validate", bench.repository).code == 0, "the old spelling works, too")
            #expect(try await bench.pipectl("validate", "--folder", bench.repository).code == 0)
            #expect(try await bench.pipectl("run", "test").code == 0)
            try FileManager.default.removeItem(atPath: "\(bench.repository)/passes")
            #expect(try await bench.pipectl("run", "test").code == 1)
        }
    }

    @Test func `init without a recognised test writes nothing and says why`() async throws {
        try await Bench.with(["sub/Makefile": "test:\n", "README.md": ""]) { bench in
            let plain = "\(bench.root)/plain"
            try FileManager.default.createDirectory(atPath: plain, withIntermediateDirectories: false)
            for folder in [plain, "\(bench.repository)/sub"] {
                let refused = try await bench.pipectl("init", "--folder", folder)
                #expect(refused.code == 2, "\(folder)")
                #expect(!FileManager.default.fileExists(atPath: "\(folder)/workflows"))
            }
            #expect(try await bench.pipectl("init").code == 2)
            #expect(try await bench.pipectl("init", "--placeholder").code == 0)
            #expect(try await bench.pipectl("run", "test").code == 1, "a step that is still to be written fails")
        }
    }
}
