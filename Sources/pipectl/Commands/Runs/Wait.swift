public import ArgumentParser
import Client
public import Control
import Foundation
import StateFiles
import UnixSignals

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Waits for a verdict, and prints what must change before the change may land.",
        discussion: """
            WHAT is a run's number, #7 for a change, a branch, a tag or a commit. Default: the commit that is checked \
            out here. The command may start before the daemon has seen the commit, or before it runs. All workflows of a commit \
            count. When a newer push supersedes a run, the wait continues with the newer run. Progress goes to standard \
            error, the bundle to standard output; the exit code is the verdict's. Without a daemon the wait ends after 20 \
            seconds with 8 (60 if the daemon stopped meanwhile); for a branch, tag or change that does not exist, after 10 seconds \
            with 7.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: ArgumentHelp("A run, #change, branch, tag or commit; default: HEAD.", valueName: "what"))
    var what: String?
    @Option(help: "The change's name, if it is not a number.") var change: String?
    @Option(help: "When to end: at the first step that finally failed (failure), or at the verdict (verdict).")
    var until = WaitRequest.End.failure
    @Option(
        help: ArgumentHelp(
            "End with exit code 8 after this time without a verdict, like 15m; 0 waits for ever, even without a daemon or for a name that does not exist yet.",
            valueName: "time"), transform: DurationOption.seconds)
    var timeout: Duration?
    @Option(help: "The repository, by its name in `pipectl status`.") var repository: String?
    @Option(help: "The folder of the repository.") var folder = "."
    @Option(help: "Print at most N bytes of the bundle.") var bytes = 16_384
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if let timeout, timeout > .seconds(31_536_000) { throw ValidationError("--timeout takes 0s to 365d") }
        if what != nil && change != nil {
            throw ValidationError("WHAT and --change exclude each other")
        }
        if !(3_072...4_194_304).contains(bytes) { throw ValidationError("--bytes takes 3072 to 4194304") }
    }

    func run() async throws {
        let folder = try state.folder()
        var request = try await WaitSubject(text: what, change: change, folder: self.folder)
            .request(repository: repository, end: until)
        request.isEndless = timeout == .zero ? true : nil
        let view = WaitView()
        let limit = timeout.flatMap { $0 > .zero ? $0 : nil }
        let outcome = try await QuietTerminal.during(view.isLive) {
            try await withThrowingTaskGroup(of: VerdictClient.Outcome?.self) { group in
                group.addTask { [request] in
                    try await VerdictClient(state: folder).wait(request, limit: limit) { await view.take($0) }
                }
                group.addTask {
                    await view.animate()
                    // Without a terminal, the animation would end at once, but this task must not.
                    try await Task.sleep(for: .seconds(1_000_000_000))
                    return nil
                }
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break }
                    try Task.checkCancellation()
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        }
        await view.clear()
        guard let outcome else {
            throw CommandEnd(code: 130, message: "interrupted; there is no verdict of \(request.subject.inWords) yet")
        }
        let document = VerdictDocument(
            try state.access(), outcome: outcome, subject: request.subject.inWords, bytes: bytes)
        Terminal.put(json ? try await document.json() : try await document.markdown())
        if document.exitCode != 0 { throw CommandEnd(code: document.exitCode, message: nil) }
    }
}

extension WaitRequest.End: ExpressibleByArgument {}
