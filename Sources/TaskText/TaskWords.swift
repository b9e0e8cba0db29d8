import Foundation
import Pipeline
public import Results

/// Tasks in words, the same for the terminal, the pages and the forge. Foreign text in them is not escaped yet.
public enum TaskWords {
    /// Where a task comes from: `crash EXC_BAD_ACCESS in Cart.total(), 3 reports, version 1.2.0, from ada`.
    public static func source(of task: TaskRecord) -> String {
        var words: [String] = []
        switch task.source {
        case .person: words.append(task.crash == nil ? "asked for" : "")
        case .issue(let number): words.append("issue \(number)")
        case .crash: break
        case .testFlight: words.append("TestFlight")
        case .scheduledRun(let run): words.append("scheduled run \(run)")
        case .redTest(let test, let run): words.append("test \(test) turned red in run \(run)")
        }
        if let crash = task.crash {
            words.append("crash \(crash.title)")
            words.append(Figures.count(crash.count, "report"))
            if let release = crash.release { words.append("version \(release)") }
        }
        words.removeAll(where: \.isEmpty)
        guard let reporter = task.reporter else { return words.joined(separator: ", ") }
        return words == ["asked for"]
            ? "asked for by \(reporter)" : (words + ["from \(reporter)"]).joined(separator: ", ")
    }

    /// What a try is: `try 2 by claude: 3 files, +10 −2, commit 91c8f6b7c4`.
    public static func size(of made: TaskTry) -> String {
        "try \(made.attempt) by \(made.agent): \(Figures.count(made.files.count, "file")), "
            + "+\(made.additions) −\(made.deletions), commit \(made.commit.prefix(10))"
    }

    /// `2 tests fail on the target and pass here: …`.
    static func reproduced(by tests: [String]) -> String {
        let named = tests.prefix(5).joined(separator: ", ") + (tests.count > 5 ? ", …" : "")
        return
            "\(Figures.count(tests.count, "test")) of it \(tests.count == 1 ? "fails" : "fail") on the target: \(named)"
    }

    /// What the agents have used; empty where it is nothing.
    public static func spent(_ spent: TaskSpending) -> String {
        var words: [String] = []
        if spent.seconds >= 1 { words.append("\(Figures.duration(spent.seconds.rounded())) of agents") }
        if let tokens = spent.tokens { words.append(Figures.count(tokens, "token")) }
        if let cost = spent.cost { words.append(String(format: "%.2f US dollars", cost)) }
        return words.joined(separator: ", ")
    }

    /// An event as a sentence without its full stop.
    public static func sentence(_ what: TaskEvent.What) -> String {
        switch what {
        case .created: "the task was made"
        case .seenAgain(let count, let release):
            "the crash was reported again, \(Figures.count(count, "report")) now"
                + (release.map { ", version \($0)" } ?? "")
        case .planned(let plan, let run): "plan \(plan.version) of run \(run): \(plan.summary)"
        case .planFailed(let run, let reason): "run \(run) gave no plan: \(reason)"
        case .remark(let text): "remark: \(text)"
        case .planApproved(let version, let reason): "plan \(version) approved" + after(reason)
        case .planRefused(let version, let reason): "plan \(version) refused" + after(reason)
        case .made(let made): "\(size(of: made)), run \(made.run)"
        case .tryFailed(let agent, let attempt, let run, let reason):
            "try \(attempt) by \(agent), run \(run), made no commit: \(reason)"
        case .reproduced(let run, let attempt, let tests): "try \(attempt), run \(run): \(reproduced(by: tests))"
        case .notReproduced(let run, let attempt, let reason):
            "try \(attempt), run \(run): its tests show nothing on the target: \(reason)"
        case .checked(let run, let attempt, let verdict, let reason):
            "try \(attempt), run \(run): \(verdict.title)" + after(reason)
        case .chosen(let attempt, let reason): "try \(attempt) is offered" + after(reason)
        case .changeOpened(let name, _, let commit): "change \(name) is open at \(commit.prefix(10))"
        case .landingAsked: "landing was asked for"
        case .landingFailed(let reason): "it did not land" + after(reason)
        case .landed(let commit): "it landed as \(commit.prefix(10))"
        case .released(let version, let run): "version \(version) of run \(run) has it"
        case .delivered(let version, let place): "version \(version) is published \(place)"
        case .told(let text): "the reporter was told: \(text)"
        case .rulesProposed: "a rule was proposed for the instructions of agents"
        case .gaveUp(let reason): "given up" + after(reason)
        case .refused(let reason): "refused" + after(reason)
        case .cancelled(let reason): "cancelled" + after(reason)
        case .answered(let reason): "answered" + after(reason)
        case .reopened(let reason): "opened again" + after(reason)
        }
    }

    private static func after(_ reason: String?) -> String {
        reason.flatMap { $0.isEmpty ? nil : ": \($0)" } ?? ""
    }

    /// The commands that a person may go on with, the likely one first.
    public static func next(_ task: TaskRecord, plan: TaskPlan?) -> [String] {
        let remark = "pipectl task remark \(task.id) '…'"
        switch task.state {
        case .planWaits:
            let version = plan.map { " --plan \($0.version)" } ?? ""
            return ["pipectl task approve \(task.id)\(version)", remark, "pipectl task refuse \(task.id)"]
        case .ready: return ["pipectl task land \(task.id)", remark, "pipectl task refuse \(task.id)"]
        case .planning, .working, .checking, .landing, .landed, .released: return ["pipectl task watch \(task.id)"]
        default: return []
        }
    }
}
