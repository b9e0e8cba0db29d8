import Foundation
import Results
import TestBasics
import TestSupport

/// Machines that are reached by ssh, for a daemon: each is this one with a home of its own. A script in PATH stands in for
/// OpenSSH's client and starts there what the daemon asks for.
struct MachineBench: Sendable {
    let bench: Bench
    /// The homes of the machines. Each gets an agent, so they are on a disk: a step's /tmp is too small for several tests.
    let hosts: String

    /// - Parameter machines: By name, their labels.
    static func with(
        _ machines: KeyValuePairs<String, [String]>, workflows: String,
        _ body: (MachineBench) async throws -> Void
    ) async throws {
        try await Bench.with(["workflows/x.swift": workflows, "file": "1\n"]) { plain in
            var bench = plain
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            bench.variables["PATH"] = "\(bench.root)/bin:\(path)"
            try await withTemporaryFolder(.disk) { [bench] hosts in
                let made = MachineBench(bench: bench, hosts: hosts)
                try made.placeClient()
                try made.list(machines)
                try await body(made)
            }
        }
    }

    private func placeClient() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: "\(bench.root)/bin", withIntermediateDirectories: true)
        let client = """
            #!/bin/sh
            while [ $# -gt 0 ] && [ "$1" != -- ]; do
                [ "$1" != -O ] || exit 0
                shift
            done
            home=\(hosts)/$2
            if [ -e "$home.down" ]; then echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255; fi
            mkdir -p "$home"
            cd "$home"
            exec env -u XDG_CACHE_HOME -u PIPECTL_HOME HOME="$home" /bin/sh -c "$3"

            """
        try client.write(toFile: "\(bench.root)/bin/ssh", atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(bench.root)/bin/ssh")
    }

    /// Writes the list of machines, each with one slot.
    func list(
        _ machines: KeyValuePairs<String, [String]>, at address: (String) -> String = { "ssh://\($0)" }
    ) throws {
        struct Entry: Encodable {
            struct State: Encodable { var ready: [String: String] = [:] }
            var name: String, address: String, traits: [String]
            var cpus = 2, memory = 1 << 30, slots = 1
            var state = State()
        }
        struct List: Encodable { var version = 1, machines: [Entry] }
        let entries = machines.map { name, labels in
            Entry(name: name, address: address(name), traits: labels.sorted())
        }
        try FileManager.default.createDirectory(
            atPath: bench.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try JSONEncoder().encode(List(machines: entries)).write(to: URL(fileURLWithPath: "\(bench.home)/machines.json"))
    }

    /// Takes a machine's network, or gives it back.
    func cut(_ machine: String, _ isDown: Bool = true) throws {
        let mark = "\(hosts)/\(machine).down"
        if isDown {
            try "".write(toFile: mark, atomically: true, encoding: .utf8)
        } else {
            try FileManager.default.removeItem(atPath: mark)
        }
    }

    // MARK: Steps

    /// A line for a step that says that it has begun, and goes on when the test lets it.
    static let meeting = "touch begun; while [ ! -e go ]; do sleep 0.05; done"

    /// Waits until the step of a run has begun on a machine, and returns its workspace.
    func begun(on machine: String, since before: Set<String> = []) async throws -> String {
        var found: String?
        try await eventually("a step on \(machine)") {
            found = workspaces(on: machine).first { !before.contains($0) }
            return found != nil
        }
        guard let found else { throw Bench.Failure(description: "no step on \(machine)") }
        return found
    }

    /// The workspaces of steps that have begun.
    func workspaces(on machine: String) -> Set<String> {
        let runs = "\(hosts)/\(machine)/.cache/pipectl-agent/runs"
        guard let all = FileManager.default.enumerator(atPath: runs) else { return [] }
        var found: Set<String> = []
        for case let path as String in all where path.hasSuffix("/begun") {
            found.insert("\(runs)/\(path.dropLast("/begun".count))")
        }
        return found
    }

    func letGo(_ workspace: String) throws {
        try "".write(toFile: "\(workspace)/go", atomically: false, encoding: .utf8)
    }

    /// The processes of a machine whose command line has this text.
    func processes(on machine: String, _ text: String) -> [Int32] {
        let home = "HOME=\(hosts)/\(machine)"
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init)
            .filter { id in
                guard let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline"),
                    let environment = FileManager.default.contents(atPath: "/proc/\(id)/environ")
                else { return false }
                return String(decoding: line, as: UTF8.self).contains(text)
                    && String(decoding: environment, as: UTF8.self).split(separator: "\0").contains { $0 == home }
            }
    }

    // MARK: What the daemon says

    struct Use: Decodable {
        var name: String
        var free: Int?
        var runs: [RunID]
        var reason: String?
    }

    func machine(_ name: String) async throws -> Use {
        let ended = try await bench.pipectl("machines", "--json")
        guard ended.code == 0 else { throw Bench.Failure(description: ended.errors) }
        let all = try JSONDecoder().decode([Use].self, from: Data(ended.output.utf8))
        guard let found = all.first(where: { $0.name == name }) else {
            throw Bench.Failure(description: "there is no machine \(name) in \(ended.output)")
        }
        return found
    }

    /// Why a live run waits for a machine; nil if it does not.
    func waits(_ run: RunID) async throws -> String? {
        struct Status: Decodable {
            struct Run: Decodable { var id: RunID, waitsFor: String? }
            var running: [Run]
        }
        let ended = try await bench.pipectl("status", "--json")
        return try JSONDecoder().decode(Status.self, from: Data(ended.output.utf8)).running
            .first { $0.id == run }?.waitsFor
    }
}
