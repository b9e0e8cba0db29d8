import AgentTools
import ArgumentParser
import Foundation
import MCP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Serves coding agents over standard input and output (Model Context Protocol).",
        discussion: """
            Offers tools to wait for a verdict, read bundles, logs and tests, rerun and cancel runs, and run the \
            working tree, and reports as resources. Agents can't approve, read secrets or start releases. \
            `pipectl agents install` sets up the agents of a repository.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "The repository for tools that name no folder.") var folder = "."

    func run() async throws {
        let toolbox = Toolbox(try state.access(), folder: folder)
        // When the client is gone, the input ends; a signal must not end the process first.
        signal(SIGPIPE, SIG_IGN)
        let server = Server(
            Server.Identity(
                name: "pipectl", title: "pipectl, the build box", version: Version.text,
                instructions: Toolbox.instructions),
            tools: toolbox.tools, resources: ReportResources(toolbox: toolbox))
        await server.run()
    }
}
