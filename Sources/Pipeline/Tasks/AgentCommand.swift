/// The command lines of a coding agent: `.claude`, `.codex`, or your own.
///
/// ```swift
/// AgentCommand("ours", plan: "agent plan", work: "agent edit", review: "agent review")
/// ```
///
/// Each line is for `/bin/sh -e`. It reads a prompt in Markdown on standard input, in a sandbox, with the files of the
/// repository in its working directory. It must ask nobody.
public struct AgentCommand: Sendable, Equatable, Codable {
    /// How people call the agent. It is in the report and in the task's history.
    public var name: String
    /// Prints a plan. The files are read-only.
    public var plan: String
    /// Edits the files. pipectl makes the commit.
    public var work: String
    /// Prints findings, as the command of a ``Review`` does; nil: the agent is no reviewer.
    public var review: String?

    /// An agent with a line for each of its parts.
    public init(_ name: String, plan: String, work: String, review: String? = nil) {
        self.name = name
        self.plan = plan
        self.work = work
        self.review = review
    }
}
