import TestBasics
import Foundation
import TestSupport
import Testing

/// A compiler that crashes or hangs, and compiled workflows that were damaged: faults 38 and 39.
struct ProgramFaultTests {
    /// A compiler that reports its version, and runs `instead` in place of compiling.
    private func compiler(_ bench: Bench, instead: String) async throws -> [String: String] {
        let real = try await bench.command(["sh", "-c", "command -v swiftc"]).output
        // In a folder of its own, since sandboxes show the whole toolchain.
        let folder = "\(bench.root)/toolchain/usr/bin"
        try await bench.command(["mkdir", "-p", "-m", "755", folder]).succeeded()
        let path = "\(folder)/swiftc"
        let script = """
            #!/bin/sh
            for word; do [ "$word" = -print-target-info ] && exec \(real.trimmingCharacters(in: .newlines)) "$@"; done
            \(instead)

            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try await bench.command(["chmod", "755", path]).succeeded()
        return ["PIPECTL_SWIFTC": path]
    }

    /// The digests of all compiled workflows.
    private func kept(_ bench: Bench) async throws -> String {
        try await bench.command(
            ["sh", "-c", "cd \"$0\"/programs && find . -name program -type f | sort | xargs sha256sum", bench.home]
        ).output
    }

    @Test("fault 38: the compiler crashes", .timeLimit(.minutes(6)))
    func compilerCrashes() async throws {
        try await Bench.faults { bench in
            let broken = try await compiler(bench, instead: "echo about to crash >&2; kill -SEGV $$")
            let first = try await bench.look()
            #expect(first.code == 0)
            let before = try await kept(bench)
            #expect(!before.isEmpty)
            try await bench.commit(["workflows/x.swift": Workflows.source("Step(\"new\", run: \"true\")")], "Rewrite")
            try await bench.change(1, ["a.txt": "a\n"])
            let after = try await bench.with(broken).look()
            #expect(after.code == 2 || after.code == 3, "\(after.code) \(after.output) \(after.errors)")
            #expect(after.errors.contains("compile"), "\(after.errors)")
            #expect(after.errors.contains("about to crash"), "the compiler's own words: \(after.errors)")
            #expect(try await kept(bench).contains(before), "other compiled workflows are not touched")
            let mended = try await bench.look()
            #expect(mended.code == 0, "\(mended.errors)")
            try await bench.change(2, ["b.txt": "b\n"])
            #expect(try await bench.look().output.contains("test  passed"))
        }
    }

    @Test(
        "fault 38: the compiler hangs", .enabled(if: Form.isLong, "its limit is two minutes"), .timeLimit(.minutes(10)))
    func compilerHangs() async throws {
        let marker = Marker()
        try await Bench.faults { bench in
            let broken = try await compiler(bench, instead: "sleep 1000.\(marker) & sleep 1000.\(marker)")
            _ = try await bench.look()
            try await bench.commit(["workflows/x.swift": Workflows.source("Step(\"new\", run: \"true\")")], "Rewrite")
            try await bench.change(1, ["a.txt": "a\n"])
            let slow = bench.with(broken)
            let after = try await slow.command(
                [Bench.pipectl, "watch", "--once", "--minimum-free", "0", bench.repository], within: .seconds(400))
            #expect(after.code == 2 || after.code == 3, "\(after.code) \(after.output) \(after.errors)")
            #expect(marker.processes.isEmpty, "\(marker.processes) live on")
            #expect(try await bench.look().code == 0)
        }
    }

    @Test(
        "fault 39: a compiled workflow was changed on the disk", .timeLimit(.minutes(6)),
        arguments: ["flip", "cut", "empty"])
    func damagedProgram(how: String) async throws {
        try await Bench.faults { bench in
            _ = try await bench.look()
            let found = try await bench.command(["find", "\(bench.home)/programs", "-name", "program", "-type", "f"])
                .output
            let path = try #require(found.split(separator: "\n").first.map(String.init))
            let whole = try #require(FileManager.default.contents(atPath: path))
            var bytes = whole
            switch how {
            case "flip": bytes[bytes.count / 2] ^= 1
            case "cut": bytes = bytes.prefix(bytes.count / 2)
            default: bytes = Data()
            }
            try bytes.write(to: URL(fileURLWithPath: path))
            try await bench.command(["chmod", "755", path]).succeeded()
            try await bench.change(1, ["a.txt": "a\n"])
            let after = try await bench.look()
            #expect(after.code == 0, "\(after.errors)")
            #expect(after.output.contains("run 1  test  passed"))
            #expect(FileManager.default.contents(atPath: path) != bytes, "it was built again")
        }
    }
}
