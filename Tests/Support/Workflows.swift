/// The files of repositories that tests watch.
package enum Workflows {
    package static let main = "@main struct Workflows: WorkflowSet { static let workflows = [test, release] }\n"

    /// `check.sh` decides whether a change passes; a merge packs a note of what it brought.
    package static let standard = [
        "workflows/x.swift": """
        import Pipeline

        let test = Workflow("test", on: .pullRequest(into: "main")) {
            Step("check", run: "sh check.sh")
            Step("lint", run: "echo linted")
        }
        let release = Workflow("release", on: .merge(into: "main")) {
            Step("pack", run: "mkdir dist && echo \\"merged=$PIPECTL_MERGED_CHANGES\\" | tee dist/notes.txt")
                .artifacts("dist/*.txt")
        }

        """ + main,
        "check.sh": "echo one; echo two; echo three\n", "shared.txt": "base\n",
    ]

    /// One workflow "test" with these steps, for changes into main.
    package static func test(
        _ steps: String, on triggers: String = #".pullRequest(into: "main")"#, files: [String: String] = [:]
    ) -> [String: String] {
        files.merging(["workflows/x.swift": source(steps, on: triggers)]) { $1 }
    }

    package static func source(_ steps: String, on triggers: String = #".pullRequest(into: "main")"#) -> String {
        """
        import Pipeline

        let test = Workflow("test", on: \(triggers)) {
            \(steps)
        }
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """
    }
}
