import TestBasics
import Foundation
import TestSupport
import Testing

@testable import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Resources that no walk through a run's folders finds, or only with rights that a step has removed.
@Suite(.timeLimit(.minutes(1))) struct RunUsageTests {
    private static func with(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder(.disk) { folder in
            // The steps of these tests take rights away.
            defer { try? FolderRemoval.remove(folder) }
            try await body(folder)
        }
    }

    #if os(Linux)
        /// Opened by a grandchild, which is found below the started process.
        @Test func `files without a name count while they are open`() async throws {
            try await RunUsageTests.with { folder in
                let line = "exec 3> f; rm f; head -c 5000000 /dev/zero >&3; (echo > there; exec sleep 60); exit 1"
                let child = try Child(
                    ["sh", "-c", line], in: folder, output: "\(folder)/out")
                defer { child.kill() }
                try await eventually("the grandchild") { access("\(folder)/there", F_OK) == 0 }
                let processes = RunProcesses(below: [child.id])
                #expect(processes.ids.count >= 2)
                let held = HeldResources(of: processes)
                // Counted once, although two processes have it open.
                #expect((5_000_000..<5_200_000).contains(held.unlinkedBytes + held.unlinkedMemory))
                #expect(WorkspaceMeter.size(of: folder) < 1_000_000)
                let meter = WorkspaceMeter(folders: [folder], countsMemory: true)
                let id = child.id
                meter.watch { [id] }
                let usage = meter.usage()
                #expect(usage.workspace + (usage.memory ?? 0) >= 5_000_000)
                #expect(HeldResources(of: RunProcesses(below: [])) == HeldResources(of: RunProcesses(below: [-1])))
            }
        }
    #endif

    /// Root ignores permissions, so the test does this as another user.
    @Test(arguments: [0o000, 0o100, 0o300, 0o400, 0o600])
    func `folders without permissions count`(_ mode: mode_t) async throws {
        try await RunUsageTests.with { folder in
            let shut = "\(folder)/a/shut"
            try FileManager.default.createDirectory(atPath: shut + "/b", withIntermediateDirectories: true)
            for path in ["\(shut)/file", "\(shut)/b/file"] {
                try Data(repeating: 1, count: 1_000_000).write(to: URL(fileURLWithPath: path))
            }
            #expect(chmod(shut, mode) == 0)
            #expect((2_000_000..<2_200_000).contains(WorkspaceMeter.size(of: folder)))
            var info = stat()
            #expect(stat(shut, &info) == 0 && info.st_mode & 0o7777 == mode)
        }
    }
}
