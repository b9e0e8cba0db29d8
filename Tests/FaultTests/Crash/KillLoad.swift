import DaemonLog
import TestBasics
import Foundation
import TestSupport

/// The pushes of a kill loop, and the runs that pipectl has reported as accepted.
struct KillLoad {
    private let bench: Bench
    private let marker: Marker
    /// Commits that no ref of a change names yet, by the number of the change.
    private var prepared: [(number: Int, head: String)]
    private var pushed: [String] = []
    private var tips: [String] = []
    private var commits = 0
    private(set) var accepted: Set<Int64> = []

    init(_ bench: Bench, marker: Marker, changes: Int) async throws {
        self.bench = bench
        self.marker = marker
        // All commits are made at once, without refs, so that the watcher does not see them.
        var script = ""
        for number in 1...changes {
            let text = "\(number)\n"
            script +=
                "commit refs/prepared/\(number)\ncommitter Ada <ada@example.com> \(1_700_000_000 + number) +0000\n"
            script += "data 7\nChange\n\nfrom refs/heads/main^0\nM 644 inline change-\(number).txt\n"
            script += "data \(text.utf8.count)\n\(text)\n"
        }
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(bench.root)/script"))
        try await bench.command(
            ["sh", "-c", "git fast-import --quiet < \"$0\"", "\(bench.root)/script"], in: bench.repository
        ).succeeded()
        let refs = try await bench.git(["for-each-ref", "--format=%(refname) %(objectname)", "refs/prepared"])
        prepared = refs.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let number = words.first.flatMap({ Int($0.dropFirst("refs/prepared/".count)) }) else { return nil }
            return (number, String(words[1]))
        }
        .sorted { $0.number > $1.number }
        try await bench.git(["pack-refs", "--all"])
    }

    /// Moves refs in the watched repository: new changes, and main by one commit.
    mutating func push(changes: Int, releases: Int) async throws {
        var updates = ""
        for _ in 0..<min(changes, prepared.count) {
            let change = prepared.removeLast()
            updates += "update refs/pull/\(change.number)/head \(change.head)\n"
            pushed.append(change.head)
        }
        for _ in 0..<releases {
            commits += 1
            let tip = try await bench.git(
                ["commit-tree", "-p", "main", "-m", "Merge \(commits)", "main^{tree}"])
            try await bench.git(["update-ref", "refs/heads/main", tip])
            tips.append(tip)
        }
        guard !updates.isEmpty else { return }
        try Data(updates.utf8).write(to: URL(fileURLWithPath: "\(bench.root)/updates"))
        try await bench.command(
            ["sh", "-c", "git update-ref --stdin < \"$0\"", "\(bench.root)/updates"], in: bench.repository
        ).succeeded()
    }

    /// Starts the daemon, and kills it with SIGKILL after the delay.
    mutating func killDaemon(after delay: Duration) async throws {
        let daemon = try bench.start(
            bench.sharing([
                Bench.pipectl, "watch", "--minimum-free", "0", "--no-refresh", "--interval", "0.2", "--slots", "4",
                bench.repository,
            ]))
        // The moment itself is tested, so nothing is waited for.
        await daemon.child.kill(after: delay)
        _ = await daemon.child.end
        hear(daemon.text)
    }

    /// Records the runs that a process has reported: `repo: run 12 test, change 3 into main`.
    mutating func hear(_ log: String) {
        for event in Bench.Daemon.events(in: log) where event.code == .runQueued || event.code == .runEnded {
            if let id = event.run { accepted.insert(id) }
        }
    }

    /// The present invariants. Tips of main that were overwritten before an observation have no run.
    func invariants() -> Invariants {
        let last = tips.last.map { ["release \($0)"] } ?? []
        return Invariants(
            bench: bench, expected: Set(pushed.map { "test \($0)" } + last),
            possible: Set(tips.map { "release \($0)" }), accepted: accepted, marker: marker)
    }
}
