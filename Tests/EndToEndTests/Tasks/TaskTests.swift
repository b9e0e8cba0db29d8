import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

/// Tasks with the built binary, a real repository, and a script as the agent.
struct TaskTests {
    @Test(.timeLimit(.minutes(10)))
    func `a task is planned, made, reproduced, reviewed, mended, landed, released and delivered`() async throws {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                let planned = try await Tasking.wait(bench, .planWaits)
                #expect(planned.names == ["created", "planned"])
                // An approval is for the plan that was seen.
                #expect(try await bench.pipectl("task", "approve", "1", "--plan", "2").code == 2)
                #expect(try await bench.pipectl("task", "land", "1").code == 2)
                try await Tasking.ask(bench, ["task", "approve", "1", "--plan", "1"])
                let ready = try await Tasking.wait(bench, .ready)
                #expect(
                    ready.names == [
                        "created", "planned", "planApproved", "made", "reproduced", "checked", "checked", "made",
                        "reproduced", "checked", "checked", "chosen", "changeOpened",
                    ])
                #expect(ready.task.change == "pipectl/task-1")
                let refs = try await bench.git(["for-each-ref", "--format=%(refname)", "refs/heads/pipectl/"])
                #expect(refs.split(separator: "\n") == ["refs/heads/pipectl/task-1"])
                // Its own runs are no verdict of the change, which is tested like any other.
                try await Tasking.ask(bench, ["task", "land", "1"])
                let delivered = try await Tasking.wait(bench, .delivered)
                let last = delivered.names.suffix(5)
                #expect(last == ["changeOpened", "landingAsked", "landed", "released", "delivered"])
                #expect(try await bench.git(["show", "main:Tests/EmptyTests.sh"]).contains("total.sh"))
                #expect(try await bench.git(["for-each-ref", "refs/heads/pipectl/"]).isEmpty)
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a remark makes another plan, and a refused plan is the end`() async throws {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                try await Tasking.wait(bench, .planWaits)
                try await Tasking.ask(bench, ["task", "remark", "1", "and say why"])
                let again = try await Tasking.wait(bench, .planWaits)
                let versions = again.events.compactMap { event -> Int? in
                    if case .planned(let plan, _) = event.what { plan.version } else { nil }
                }
                #expect(versions == [1] || versions == [1, 2])
                let end = ContinuousClock.now + .seconds(300)
                while try await Tasking.story(bench).names.count(where: { $0 == "planned" }) < 2 {
                    try #require(ContinuousClock.now < end)
                    try await Task.sleep(for: .milliseconds(200))
                }
                try await Tasking.wait(bench, .planWaits)
                try await Tasking.ask(bench, ["task", "refuse", "1", "--reason", "not now"])
                #expect(try await Tasking.story(bench).task.state == .refused)
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.git(["for-each-ref", "refs/heads/pipectl/"]).isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["plan", "work", "review"])
    func `after a kill the task goes on, and there is one change`(_ part: String) async throws {
        try await Bench.with([:]) { bench in
            try bench.meetingPoint("started")
            // The first time that the agent does this part, it waits to be killed.
            try await Tasking.begin(
                bench,
                before: """
                    if [ $1 = \(part) ] && ! test -e \(bench.meet)/again; then
                        echo up > \(bench.meet)/started; sleep 1000
                    fi
                    """)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                if part != "plan" {
                    try await Tasking.wait(bench, .planWaits)
                    try await Tasking.ask(bench, ["task", "approve", "1"])
                }
                try await bench.arrival(at: "started")
                daemon.child.kill()
                _ = await daemon.end()
            }
            _ = FileManager.default.createFile(atPath: "\(bench.meet)/again", contents: nil)
            try await bench.withDaemon { daemon in
                if part == "plan" {
                    try await Tasking.wait(bench, .planWaits)
                    try await Tasking.ask(bench, ["task", "approve", "1"])
                }
                let ready = try await Tasking.wait(bench, .ready)
                #expect(ready.names.count { $0 == "planned" } == 1)
                #expect(ready.names.count { $0 == "changeOpened" } == 1)
                #expect(ready.names.count { $0 == "made" } == 2)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a cancelled task stops its agent and leaves no branch`() async throws {
        try await Bench.with([:]) { bench in
            try bench.meetingPoint("started")
            try await Tasking.begin(bench, before: "echo up > \(bench.meet)/started; sleep 1000")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                try await bench.arrival(at: "started")
                try await Tasking.ask(bench, ["task", "cancel", "1", "--reason", "never mind"])
                #expect(try await bench.ended(1).verdict == .cancelled)
                #expect(try await Tasking.story(bench).names == ["created", "cancelled"])
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.git(["for-each-ref", "refs/heads/pipectl/"]).isEmpty)
        }
    }
}
