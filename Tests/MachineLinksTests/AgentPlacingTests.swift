import Foundation
import TestBasics
import TestSupport
import Testing

@testable import MachineLinks

/// How the agent gets to a machine, which is this one with another home.
@Suite(.timeLimit(.minutes(2))) struct AgentPlacingTests {
    private struct LocalShell: MachineShell {
        let name = "other"
        let environment: [String: String]
        func words(running script: String) -> [String] { ["/bin/sh", "-c", script] }
        func problem(_ code: Int32, _ complaint: String) -> ReachProblem? { nil }
    }

    private func shell(_ home: String, path: String = "/usr/bin:/bin") -> LocalShell {
        LocalShell(environment: ["PATH": path, "HOME": home])
    }

    private func programs() async throws -> [AgentPrograms] {
        try await AgentPrograms.own(agent: Products.path("pipectl-agent"), stepInit: Products.path("stepinit"))
    }

    @Test func `the agent starts there with its libraries, and is sent once`() async throws {
        try await withTemporaryFolder { home in
            let shell = shell(home)
            let programs = try await programs()
            let script = try await AgentPlacing(shell: shell, programs: programs).script()
            let (code, output) = try await shell.run(script + " --protocol", deadline: .seconds(30))
            #expect(code == 0, "\(output)")
            #expect(output.split(separator: " ").count == 3)
            let folder = try #require(programs.first?.folder)
            let complete = "\(home)/.cache/pipectl/\(folder)/complete"
            #expect(FileManager.default.fileExists(atPath: complete))
            // A second look finds all of it.
            let placing = AgentPlacing(shell: shell, programs: programs)
            #expect(try await placing.look().folders == [folder])
            // A file that was cut is sent again.
            let agent = "\(home)/.cache/pipectl/\(folder)/pipectl-agent"
            #expect(truncate(agent, 1_000) == 0)
            #expect(try await placing.look().folders == [])
            let again = try await shell.run(try await placing.script() + " --protocol", deadline: .seconds(30))
            #expect(again.code == 0 && again.output == output)
            #expect(unlink(agent) == 0)
            #expect(try await placing.look().folders == [])
        }
    }

    @Test func `a library has the name there that the loader looks for`() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/libstdc++.so.6"
            try Data("library".utf8).write(to: URL(fileURLWithPath: library))
            let platform = MachinePlatform(system: "Linux", machine: "x86_64")
            let programs = try AgentPrograms(platform, agent: "/bin/sh", libraries: [library])
            #expect(programs.files.map(\.name) == ["sh", "libstdc++.so.6"])
        }
    }

    @Test(arguments: [true, false]) func `a machine of another platform needs an installed agent`(isThere: Bool)
        async throws
    {
        try await withTemporaryFolder { home in
            let tools = "\(home)/my tools"
            try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
            let answers = ["uname": "[ $1 = -s ] && echo Plan9 || echo mips", "pipectl-agent": "echo installed \"$@\""]
            for (name, line) in answers where isThere || name == "uname" {
                try await runCommand(
                    "/bin/sh", "-c", #"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#, "sh",
                    "\(tools)/\(name)", line)
            }
            let shell = shell(home, path: "\(tools):/usr/bin:/bin")
            let placing = AgentPlacing(shell: shell, programs: try await programs())
            guard isThere else {
                let problem = await #expect(throws: ReachProblem.self) { try await placing.script() }
                #expect(problem?.code == .agentMissing)
                return
            }
            let script = try await placing.script()
            #expect(try await shell.run(script, deadline: .seconds(30)).output == "installed\n")
            #expect(!FileManager.default.fileExists(atPath: "\(home)/.cache"))
        }
    }

    @Test func `libraries of the system stay where they are`() throws {
        let printed = """
            \tlinux-vdso.so.1 (0x00007f1)
            \tlibgit2.so.1.5 => /lib/x86_64-linux-gnu/libgit2.so.1.5 (0x00007f2)
            \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f3)
            \tlibmbedtls.so.14 => /lib/x86_64-linux-gnu/libmbedtls.so.14 (0x00007f4)
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f5)
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f6)
            """
        #expect(
            try AgentLibraries.paths(in: printed, of: "agent")
                == ["/lib/x86_64-linux-gnu/libgit2.so.1.5", "/lib/x86_64-linux-gnu/libmbedtls.so.14"])
        let problem = #expect(throws: ReachProblem.self) {
            try AgentLibraries.paths(in: "\tlibgit2.so.1.5 => not found", of: "agent")
        }
        #expect(problem?.code == .agentMissing)
    }

    @Test func `the agent says what it is for when nobody speaks to it`() async throws {
        try await withTemporaryFolder { home in
            let (code, output) = try await shell(home).run(
                "\(ShellText.word(Products.path("pipectl-agent"))) --folder \(ShellText.word("\(home)/agent"))",
                deadline: .seconds(30))
            #expect(code == 3)
            #expect(output.contains("pipectl machines add"))
        }
    }
}
