import WorkflowPrograms
import Foundation
import Pipeline
import Testing

/// `workflows/Package.swift`, built by SwiftPM for real. One after the other: each takes both cores for seconds.
@Suite(.programRoom, .serialized, .timeLimit(.minutes(10))) struct PackageProgramTests {
    private let room = ProgramRoom.current

    private static let manifest = """
        // swift-tools-version: 6.0
        import PackageDescription
        let package = Package(
            name: "workflows",
            targets: [
                .target(name: "Shared"),
                .executableTarget(name: "ci", dependencies: ["Shared"], resources: [.copy("names.txt")]),
            ])
        """

    private func sources(_ steps: String = "Step(greeting, run: \"true\")") -> WorkflowSources {
        .files([
            "workflows/Package.swift": PackageProgramTests.manifest,
            "workflows/Sources/Shared/Shared.swift": "public let greeting = \"hello from a library\"\n",
            "workflows/Sources/ci/names.txt": "one\n",
            "workflows/Sources/ci/CI.swift": """
            import Pipeline
            import Shared
            let test = Workflow("test", on: .pullRequest(into: "main")) {
                \(steps)
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }
            """,
        ])
    }

    @Test func `a package is built, cached and rebuilt if damaged`() async throws {
        let cache = try await room.cache()
        let program = try await cache.program(for: sources())
        #expect(program.executable.hasPrefix(room.programs))
        let plan = try await program.plan(workflow: "test", context: .example)
        #expect(plan.steps.map(\.name) == ["hello from a library"])
        #expect(try cache.program(keptFor: sources().tree)?.executable == program.executable)
        let size = try Data(contentsOf: URL(fileURLWithPath: program.executable)).count
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: program.executable))
        try file.truncate(atOffset: UInt64(size / 2))
        try file.close()
        #expect(try cache.program(keptFor: sources().tree) == nil)
        let again = try await cache.program(for: sources())
        #expect(try await again.plan(workflow: "test", context: .example).steps.count == 1)
    }

    @Test func `a compile error of a package has the path in the repository`() async throws {
        let cache = try await room.cache()
        let error = await #expect(throws: DefinitionError.self) { try await cache.program(for: sources("nonsense")) }
        #expect(error?.code == .compileFailed)
        let lines = (error?.output ?? "").split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("workflows/Sources/ci/CI.swift:4:5: error:") }, "\(lines)")
        #expect(error?.output.contains(room.path) == false)
    }

    @Test func `a package without a program has no entry point`() async throws {
        let cache = try await room.cache()
        let error = await #expect(throws: DefinitionError.self) {
            try await cache.program(
                for: .files([
                    "workflows/Package.swift": """
                    // swift-tools-version: 6.0
                    import PackageDescription
                    let package = Package(name: "workflows", targets: [.target(name: "Shared")])
                    """,
                    "workflows/Sources/Shared/Shared.swift": "public let greeting = 1\n",
                ]))
        }
        #expect(error?.code == .noEntryPoint)
        #expect(error?.message.contains("it has: none") == true)
    }

    @Test func `a broken manifest is reported`() async throws {
        let cache = try await room.cache()
        let error = await #expect(throws: DefinitionError.self) {
            try await cache.program(for: .files(["workflows/Package.swift": "nonsense\n"]))
        }
        #expect(error?.code == .compileFailed)
        #expect(error?.output.isEmpty == false)
    }
}
