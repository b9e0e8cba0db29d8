import ArgumentParser
import Foundation

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes the first two workflows, test and release, for the repository at hand.")

    @Argument(help: "The top folder of the repository.")
    var folder = "."
    @Option(help: "The branch that changes go into. Default: what the repository's refs say.")
    var branch: String?

    func run() throws {
        do {
            for path in try SeedWorkflows.write(
                to: URL(fileURLWithPath: folder).standardizedFileURL.path, branch: branch)
            {
                Terminal.print("wrote \(path)")
            }
        } catch let error as SeedError {
            throw CommandEnd(code: 2, message: "\(error)")
        } catch let error as SeedObstacle {
            throw CommandEnd(code: 2, message: "\(error)")
        }
        Terminal.say("Read them, then try: pipectl validate, pipectl run test. Commit them, and run: pipectl watch .")
    }
}
