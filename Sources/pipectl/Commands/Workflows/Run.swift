import ArgumentParser
import Client
import CommandHelp
import Control
import Foundation
import Git
import Pipeline
import StateFiles
import TestReports
import Watching

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a workflow on the working tree, a ref, or a change.",
        discussion: """
            Without --ref or --change it runs a copy of the working tree, uncommitted changes included. \
            A running daemon runs it; otherwise this process does, with the same engine. Exits with the \
            verdict's exit code. On a terminal it asks for parameters if a required one has no value.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @Argument(help: "The workflow's name.")
    var workflow: String
    @Option(help: "The repository.")
    var folder = "."
    @Option(
        help: ArgumentHelp(
            "A watched repository, by its name or URL, instead of the one here; with --ref or --change.",
            valueName: "name"))
    var repository: String?
    @Option(help: "Run this branch, tag or commit instead of the working tree.")
    var ref: String?
    @Option(help: "Run this change, merged with its target.")
    var change: String?
    @Option(name: .customLong("param"), help: ArgumentHelp("A parameter's value.", valueName: "name=value"))
    var parameters: [String] = []
    @Option(name: .customLong("step"), help: "Run only this step and the steps it needs; may be repeated.")
    var steps: [String] = []
    @Option(
        name: .customLong("tests"),
        help: ArgumentHelp(
            "Run only this test, by its name in a report or a part of it, in a step with a test filter; may be repeated.",
            valueName: "suite/name"))
    var tests: [String] = []
    @Flag(
        inversion: .prefixedNo, help: "Skip steps that are proved by an earlier run with the same inputs, or run all.")
    var proofs = true
    @Flag(help: "Start from a fresh workspace instead of a warm one.")
    var clean = false
    @Flag(help: "Print the run's number and return at once; needs a daemon.")
    var detach = false
    @Flag(help: "Print the report as JSON.")
    var json = false

    func validate() throws {
        if tests.count > 200 { throw ValidationError("--tests may be repeated 200 times") }
        if repository != nil && ref == nil && change == nil {
            throw ValidationError("--repository has no working tree here: add --ref or --change")
        }
        if ref != nil && change != nil { throw ValidationError("--ref and --change exclude each other") }
    }

    func run() async throws {
        let folder = try state.folder()
        let location = WatchedRepository.isRemote(self.folder) ? self.folder : try RunSubject.top(of: self.folder)
        let access = try await daemonOptions.open(folder, "run \(workflow)")
        do {
            try await IdleFlags.check(daemonOptions.given, access)
            if case .own = access, detach {
                throw CommandEnd(
                    code: 2, message: "--detach needs a running daemon: start `pipectl watch`, or leave it out")
            }
            var request = StartRequest(
                location: location, workflow: workflow,
                subject: try await RunSubject(ref: ref, change: change).resolved(in: location),
                parameters: try ParameterOptions.values(parameters), steps: steps, isForeground: !detach)
            (request.refusesProofs, request.isClean) = (!proofs, clean)
            request.tests = tests.isEmpty ? nil : tests
            request.repository = repository.map(RunSubject.repository)
            if change != nil { request.origin = try? await RunSubject.origin(of: location) }
            request.parameters = try await ParameterDialog.complete(request, access)
            let accepted = RunNumber()
            try await access.ask(.start(request)) { reply in
                if case .accepted(let id, _) = reply { await accepted.set(id) }
            }
            guard let id = await accepted.id else {
                throw CommandEnd(code: 3, message: "the daemon did not accept the run")
            }
            if detach {
                Terminal.print("\(id)")
                return
            }
            let following = Following(access: access, state: folder)
            try await following.conclude(id, following.follow(id), json: json)
        } catch {
            await access.close()
            throw error
        }
    }
}

actor RunNumber {
    private(set) var id: Int64?
    func set(_ id: Int64) { self.id = id }
}
