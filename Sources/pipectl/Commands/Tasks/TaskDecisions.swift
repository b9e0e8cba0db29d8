import ArgumentParser
import Client
import Control
import Results

struct TaskApprove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approves the plan of a task; then the work begins.",
        discussion: """
            The approval is for one version of the plan. With --plan it is the one that you read: a newer one is not \
            approved unseen.
            """)

    @OptionGroup var task: TaskOption
    @Option(help: "The version of the plan. Default: the newest.") var plan: Int?
    @Option(help: "The reason, shown in the task's history.") var reason: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var version = plan
        if version == nil {
            version = try await task.view().plan?.version
            if let version { Terminal.say("version \(version) of the plan is the newest") }
        }
        guard let version else {
            throw CommandEnd(
                code: 2, message: "task \(task.task) has no plan yet; `pipectl task watch \(task.task)` waits for it")
        }
        try await task.decide(.approve(task.task, version: version, reason: reason), json: json)
    }
}

struct TaskRemark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remark",
        abstract: "Says what should be otherwise in a plan, in work that goes on, or in the change.",
        discussion: """
            A plan that waits is made again, as a new version. An agent that works gets the remark. On a change that is \
            ready to land, a further try begins.
            """)

    @OptionGroup var task: TaskOption
    @Argument(help: "The remark; - is standard input.") var text: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let words = text == "-" ? try HandedFile.standardInput(atMost: 16_384) : text
        try await task.decide(.remark(task.task, words), json: json)
    }
}

struct TaskRefuse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", abstract: "Refuses the plan or the change of a task. The task ends.")

    @OptionGroup var task: TaskOption
    @Option(help: "The reason, shown in the task's history.") var reason: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws { try await task.decide(.refuse(task.task, reason: reason), json: json) }
}

struct TaskCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stops all work on a task. The task ends.")

    @OptionGroup var task: TaskOption
    @Option(help: "The reason, shown in the task's history.") var reason: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws { try await task.decide(.cancel(task.task, reason: reason), json: json) }
}

struct TaskLand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "land", abstract: "Puts the change of a task into the merge queue.")

    @OptionGroup var task: TaskOption
    @Option(help: "The whole id of the commit that you looked at: another one is not landed unseen.")
    var commit: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws { try await task.decide(.land(task.task, commit: commit), json: json) }
}
