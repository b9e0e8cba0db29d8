import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

/// Two tasks at once, each with two agents, and the line that tells who asked.
struct SideBySideTests {
    /// Declares agents that differ in how much they write, no plan, and a line that notes what it is told.
    private static func files(_ bench: Bench) -> [String: String] {
        var files = Tasking.files(
            bench, ".plans(.none).budget(attempts: 1).tells(by: \"sh \(bench.meet)/tell\")")
        let workflows = files["workflows/x.swift"] ?? ""
        files["workflows/x.swift"] = workflows.replacing(
            "@main struct", with: "\(declared("short", bench))\n\(declared("long", bench))\n@main struct"
        )
        .replacing("by: agent, mustPass", with: "by: short, long, mustPass")
        files["names.sh"] = "echo none\n"
        return files
    }

    private static func declared(_ name: String, _ bench: Bench) -> String {
        "let \(name) = AgentCommand(\"\(name)\", plan: \"exit 1\", work: \"sh \(bench.meet)/agent work \(name)\")"
    }

    /// Each agent waits, for ten minutes at most, until all four are at work.
    private static func agent(_ bench: Bench) -> String {
        """
        set -e
        if [ $1 = review ]; then echo '{"findings": []}'; exit; fi
        if grep -q 'Spell the names' "$PIPECTL_TASK_PROMPT"; then task=names; else task=total; fi
        echo up > \(bench.meet)/work-$task-$2
        for _ in $(seq 6000); do
            if [ $(ls \(bench.meet) | grep -c '^work-') = 4 ]; then all=yes; break; fi
            sleep 0.1
        done
        test -n "$all"
        if [ $task = names ]; then
            echo 'echo ada' > names.sh; echo 'test "$(sh names.sh)" = ada' > Tests/NamesTests.sh
        else
            echo 'echo $#' > total.sh; echo 'test "$(sh total.sh)" = 0' > Tests/EmptyTests.sh
        fi
        if [ $2 = long ]; then seq 40 | sed 's/^/# /' >> $task.sh; fi
        echo "Done by $2."
        """
    }

    private struct News: Decodable, Equatable {
        var task: Int
        var what: String
    }

    private func news(_ bench: Bench) throws -> [News] {
        let lines = try String(contentsOfFile: "\(bench.meet)/told", encoding: .utf8).split(separator: "\n")
        return try lines.map { try JSONDecoder().decode(News.self, from: Data($0.utf8)) }
    }

    @Test(.timeLimit(.minutes(10)))
    func `two agents work on each of two tasks at once, the smaller tries land, and each step is told once`()
        async throws
    {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            try await bench.commit(Self.files(bench), "Two agents")
            try Tasking.write(bench, Self.agent(bench))
            // The news are JSON of several lines.
            try Data("tr -d '\\n' >> \(bench.meet)/told; echo >> \(bench.meet)/told\n".utf8)
                .write(to: URL(fileURLWithPath: "\(bench.meet)/tell"))
            try await bench.withDaemon("--slots", "4") { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                try await Tasking.ask(bench, ["task", "add", "Spell the names."])
                for task in [1, 2] {
                    let ready = try await Tasking.wait(bench, task: task, .ready)
                    var agents: [Int: String] = [:]
                    var chosen: Int?
                    for event in ready.events {
                        switch event.what {
                        case .made(let made): agents[made.attempt] = made.agent
                        case .chosen(let attempt, _): chosen = attempt
                        default: break
                        }
                    }
                    #expect(Set(agents.values) == ["short", "long"])
                    #expect(chosen.flatMap { agents[$0] } == "short")
                    #expect(ready.task.change == "pipectl/task-\(task)")
                }
                for task in [1, 2] { try await Tasking.ask(bench, ["task", "land", "\(task)"]) }
                for task in [1, 2] { try await Tasking.wait(bench, task: task, .delivered) }
                // What was told is recorded once the line has ended.
                for task in [1, 2] {
                    try await eventually("the news of task \(task) are recorded") {
                        try await Tasking.story(bench, task).names.count { $0 == "told" } >= 4
                    }
                }
                #expect(await daemon.stop() == 0)
            }
            let told = try news(bench)
            for task in [1, 2] {
                #expect(told.filter { $0.task == task }.map(\.what) == ["ready", "landed", "released", "delivered"])
                #expect(try await Tasking.story(bench, task).names.count { $0 == "told" } == 4)
            }
            for file in ["total.sh", "names.sh"] {
                #expect(try await bench.git(["show", "main:\(file)"]).contains("# 40") == false)
            }
        }
    }
}
