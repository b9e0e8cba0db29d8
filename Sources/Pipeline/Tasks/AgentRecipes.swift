/// The command lines of usual agents for use without a person, as their vendors document them: docs/guide/agents-clis.md
/// names the page for each flag.
///
/// All agents work in pipectl's sandbox, and the files of a plan and of a review are read-only there. So the agents'
/// own questions and sandboxes are switched off where they work: nobody could answer, and a sandbox in a sandbox fails.
/// A reviewer may put its answer into a code fence, which `sed` removes.
extension AgentCommand {
    /// Claude Code: `claude`.
    public static let claude = AgentCommand(
        "claude", plan: "claude -p \(follow) --output-format json --allowedTools 'Read,Glob,Grep'",
        work:
            "claude -p \(follow) --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash",
        review: "claude -p \(follow) --allowedTools 'Read,Glob,Grep' | \(unfenced)")

    /// Codex: `codex`.
    public static let codex = AgentCommand(
        "codex", plan: "\(codexCommand) -", work: "\(codexCommand) --json -", review: "\(codexCommand) - | \(unfenced)")

    /// Gemini CLI: `gemini`.
    public static let gemini = AgentCommand(
        "gemini", plan: "gemini --skip-trust --output-format json -p \(follow)",
        work: "gemini --skip-trust --approval-mode yolo --output-format stream-json -p \(follow)",
        review: "gemini --skip-trust -p \(follow) | \(unfenced)")

    /// Cursor's agent: `cursor-agent`. It takes its prompt as an argument only, which is too short for some: so it is
    /// told of a file.
    public static let cursor = AgentCommand(
        "cursor", plan: "\(kept)cursor-agent -p --trust --mode ask --output-format json \(followKept)",
        work: "\(kept)cursor-agent -p --trust --force --sandbox disabled --output-format stream-json \(followKept)",
        review: "\(kept)cursor-agent -p --trust --mode ask --output-format text \(followKept) | \(unfenced)")

    /// GitHub Copilot CLI: `copilot`.
    public static let copilot = AgentCommand(
        "copilot", plan: "copilot --silent --no-ask-user --allow-all-tools --deny-tool=write",
        work: "copilot --no-ask-user --allow-all-tools",
        review: "copilot --silent --no-ask-user --allow-all-tools --deny-tool=write | \(unfenced)")

    /// OpenCode: `opencode`.
    public static let opencode = AgentCommand(
        "opencode", plan: "opencode run --agent plan", work: "opencode run --auto --format json",
        review: "opencode run --agent plan | \(unfenced)")

    /// Qwen Code: `qwen`.
    public static let qwen = AgentCommand(
        "qwen", plan: "qwen -p \(follow)", work: "qwen --approval-mode yolo --output-format stream-json -p \(follow)",
        review: "qwen -p \(follow) | \(unfenced)")

    /// Goose: `goose`.
    public static let goose = AgentCommand(
        "goose", plan: "GOOSE_MODE=auto goose run --no-session --quiet -i -",
        work: "GOOSE_MODE=auto goose run --no-session -i -",
        review: "GOOSE_MODE=auto goose run --no-session --quiet -i - | \(unfenced)")

    /// Aider: `aider`. It edits files but runs no commands, and is no reviewer. Its history files go where they are
    /// not part of the work.
    public static let aider = AgentCommand(
        "aider", plan: "\(kept)\(aiderCommand) --chat-mode ask --message-file \"$prompt\"",
        work: "\(kept)\(aiderCommand) --yes-always --message-file \"$prompt\"")

    /// All of them.
    package static let recipes = [claude, codex, gemini, cursor, copilot, opencode, qwen, goose, aider]

    private static let follow = "'Follow the instructions on standard input'"
    private static let unfenced = "sed '/^```/d'"
    private static let codexCommand =
        "codex exec --ephemeral --skip-git-repo-check --color never --sandbox danger-full-access"

    /// Puts standard input into a file outside of the workspace.
    private static let kept = "prompt=$(mktemp); cat > \"$prompt\"; "
    private static let followKept = "\"Follow the instructions in the file $prompt\""
    private static let aiderCommand =
        "aider --no-git --no-gitignore --no-auto-commits --no-pretty --no-stream --no-check-update --no-show-release-notes "
        + "--no-show-model-warnings --no-suggest-shell-commands --no-detect-urls --analytics-disable "
        + "--input-history-file /dev/null --chat-history-file /dev/null"
}
