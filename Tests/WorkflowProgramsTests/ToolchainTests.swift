import WorkflowPrograms
import Foundation
import Testing

@Suite(.programRoom, .timeLimit(.minutes(1))) struct ToolchainTests {
    private let room = ProgramRoom.current

    @Test func `the toolchain of this machine is found`() async throws {
        let toolchain = try await Toolchain.find()
        #expect(toolchain.swiftc.hasSuffix("/swiftc"))
        #expect(toolchain.version.contains("Swift version"))
        #expect(toolchain.target.split(separator: "-").count >= 3)
        #expect(FileManager.default.isExecutableFile(atPath: toolchain.swift))
    }

    @Test(arguments: [[:], ["PATH": ""], ["PATH": "relative:."], ["PATH": "/nonexistent/bin"]])
    func `a missing compiler names the next step`(environment: [String: String]) async throws {
        let error = await #expect(throws: ToolchainError.self) {
            try await Toolchain.find(environment: environment)
        }
        #expect(error?.code == .missing)
        #expect(error?.description.contains("PIPECTL_SWIFTC") == true)
        #expect(error?.description.contains("Swift 6.3 or later") == true, "as README says")
    }

    @Test(arguments: ["swiftc", "/nonexistent/swiftc", "/etc/passwd"])
    func `a wrong choice is not replaced by another compiler`(choice: String) async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["PIPECTL_SWIFTC"] = choice
        let error = await #expect(throws: ToolchainError.self) { try await Toolchain.find(environment: environment) }
        #expect(error?.code == .missing)
        #expect(error?.message.contains(choice) == true)
    }

    /// Under a running daemon: the answer about the old compiler must not be reused.
    @Test func `a replaced compiler is detected`() throws {
        let toolchain = Toolchain(
            swiftc: try room.script("swiftc", "echo one"), version: "Swift version 6",
            target: "x86_64-unknown-linux-gnu")
        let before = toolchain.fileWords
        #expect(!before.isEmpty && toolchain.fileWords == before)
        _ = try room.script("swiftc", "echo another")
        #expect(toolchain.fileWords != before)
        #expect(Toolchain(swiftc: "/nonexistent/swiftc", version: "", target: "").fileWords.isEmpty)
    }

    @Test func `a program that is not a compiler is refused`() async throws {
        let fake = try room.script("swiftc", "echo I am not Swift")
        let error = await #expect(throws: ToolchainError.self) {
            try await Toolchain.find(environment: ["PIPECTL_SWIFTC": fake])
        }
        #expect(error?.code == .unusable)
        #expect(error?.output == "I am not Swift\n")
    }

    @Test func `the answer is cached until the file changes`() async throws {
        func compiler(_ version: String) throws -> String {
            try room.script(
                "swiftc",
                """
                echo x >> \(room.path)/asked
                echo '{"compilerVersion": "Swift version \(version)", "target": {"triple": "a-b-c"}}'
                """)
        }
        let environment = ["PIPECTL_SWIFTC": try compiler("6.9")]
        let memory = "\(room.path)/toolchain.json"
        for _ in 1...3 {
            let found = try await Toolchain.find(environment: environment, memory: memory)
            #expect(found.version == "Swift version 6.9")
            #expect(found.target == "a-b-c")
        }
        #expect(room.text("asked") == "x\n")
        _ = try compiler("6.10")
        #expect(try await Toolchain.find(environment: environment, memory: memory).version == "Swift version 6.10")
    }

    @Test func `a broken cache file does no harm`() async throws {
        let memory = try room.file("toolchain.json", "{ not JSON")
        let found = try await Toolchain.find(memory: memory)
        #expect(try await Toolchain.find(memory: memory) == found)
    }
}

@Suite(.programRoom) struct PipelineLibraryTests {
    private let room = ProgramRoom.current

    #if canImport(Darwin)
        private let name = "libPipeline.dylib"
    #else
        private let name = "libPipeline.so"
    #endif

    @Test func `the library beside this binary is found`() throws {
        let library = try PipelineLibrary.find()
        #expect(library.library.hasSuffix("/\(name)"))
        #expect(try library.identity().count == 64)
    }

    @Test func `a build folder is found`() throws {
        try room.file("debug/pipectl", "", executable: true)
        try room.file("debug/\(name)", "library")
        try room.file("debug/Modules/Pipeline.swiftmodule", "module")
        let found = try PipelineLibrary.find(beside: "\(room.path)/debug/pipectl")
        #expect(found.library.hasSuffix("/debug/\(name)"))
    }

    @Test func `an installed prefix is found through a link`() throws {
        try room.file("prefix/bin/pipectl", "", executable: true)
        try room.file("prefix/lib/pipectl/\(name)", "library")
        try room.file("prefix/lib/pipectl/Modules/Pipeline.swiftmodule/x86_64.swiftmodule", "module")
        try FileManager.default.createSymbolicLink(
            atPath: "\(room.path)/pipectl", withDestinationPath: "prefix/bin/pipectl")
        let found = try PipelineLibrary.find(beside: "\(room.path)/pipectl")
        #expect(found.library.hasSuffix("/prefix/lib/pipectl/\(name)"))
        #expect(try found.identity().count == 64)
    }

    @Test func `a missing library names the searched places`() throws {
        let binary = try room.file("bin/pipectl", "", executable: true)
        let error = #expect(throws: PipelineLibraryError.self) { try PipelineLibrary.find(beside: binary) }
        #expect(error?.places.count == 4)
        #expect(error?.places.allSatisfy { error?.description.contains($0) == true } == true)
        #expect(throws: PipelineLibraryError.self) { try PipelineLibrary.find(beside: "/nonexistent/pipectl") }
    }

    @Test func `the identity covers the library and the module`() throws {
        let library = PipelineLibrary(
            module: try room.file("Pipeline.swiftmodule", "module"), library: try room.file(name, "library"))
        let first = try library.identity()
        #expect(try library.identity() == first)
        try room.file(name, "another library")
        let second = try library.identity()
        #expect(second != first)
        try room.file("Pipeline.swiftmodule", "another module")
        #expect(try library.identity() != second)
    }
}
