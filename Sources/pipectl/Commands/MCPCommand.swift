import ArgumentParser
import BuildBox
import Foundation
import MCP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Serves an agent over standard input and output (Model Context Protocol).",
        discussion: """
            Tools to wait for a verdict, to read what must change, logs and tests, to rerun and cancel, and to run the \
            working tree; reports as resources. Approving, secrets and releases are not among them. \
            `pipectl agents install` tells the agents of a repository about it.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "The repository that tools without a folder of their own mean.") var folder = "."

    func run() async throws {
        let desk = AgentDesk(state: try state.folder(), folder: folder)
        // A client that is gone is seen by the end of its input, not by a signal.
        signal(SIGPIPE, SIG_IGN)
        let server = Server(
            Server.Identity(
                name: "pipectl", title: "pipectl, the build box", version: Version.text,
                instructions: AgentDesk.instructions),
            tools: desk.tools, shelf: ReportShelf(desk: desk))
        await server.run()
    }
}
