/// A step that leaves something for the daemon that is not what it seems.
struct OutputAttempt: Sendable {
    var name: String
    /// The modifiers of the step in the definition.
    var modifiers: String
    var script: String
    /// Texts that the report must contain.
    var says: [String]

    static let all = [
        OutputAttempt(
            name: "link-file", modifiers: ".artifacts(\"link-file/*\")",
            script:
                "mkdir link-file; ln -s @ROOT@/outside/secret.txt link-file/secret.txt; ln -s /etc/shadow link-file/s",
            says: ["link-file/secret.txt is a link and was skipped", "link-file/s is a link and was skipped"]),
        OutputAttempt(
            name: "link-folder", modifiers: ".artifacts(\"link-folder/*.txt\")",
            script: "ln -s @ROOT@/outside link-folder", says: ["link-folder is a link and was skipped"]),
        OutputAttempt(
            name: "link-inside", modifiers: ".artifacts(\"link-inside/**\")",
            script: "mkdir -p link-inside/a; ln -s @ROOT@/outside link-inside/a/b; ln -s / link-inside/a/root",
            says: ["link-inside/a/b is a link and was skipped"]),
        OutputAttempt(
            name: "dots", modifiers: ".artifacts(\"dots/*.txt\")",
            script: "mkdir dots; ln -s ../../../../../../..@ROOT@/outside/secret.txt dots/s.txt",
            says: ["dots/s.txt is a link and was skipped"]),
        OutputAttempt(
            name: "pipe", modifiers: ".artifacts(\"pipe/*\").testResults(.junit(\"pipe/*\"))",
            script: "mkdir pipe; mkfifo pipe/results.xml", says: ["pipe/results.xml is not a regular file"]),
        OutputAttempt(
            name: "sparse", modifiers: ".artifacts(\"sparse/*\")",
            script: "mkdir sparse; truncate -s 3G sparse/holes", says: ["larger than 2,147,483,648 bytes"]),
        OutputAttempt(
            name: "many", modifiers: ".artifacts(\"many/*.txt\")",
            script: "@PROBE@ many many 100000", says: ["more than 1,000 files match"]),
        OutputAttempt(
            name: "deep", modifiers: ".artifacts(\"deep/**/*.txt\")",
            script: "@PROBE@ deep deep 200", says: ["is more than 32 folders deep and was skipped"]),
        OutputAttempt(
            name: "closed", modifiers: ".artifacts(\"closed/*.txt\")",
            script: "mkdir -p closed/a/b; echo x > closed/a/b/c; chmod 0 closed/a/b closed/a closed",
            says: ["no file matches the artifact pattern"]),
        OutputAttempt(
            name: "result-link", modifiers: ".testResults(.junit(\"result-link.xml\"))",
            script: "ln -s @ROOT@/outside/results.xml result-link.xml", says: ["result-link.xml is a link"]),
        OutputAttempt(
            name: "value-link", modifiers: ".publishes(Value<String>(\"value-link\"))",
            script: "ln -s @ROOT@/outside/token.json \"$PIPECTL_VALUES_OUT/value-link.json\"",
            says: ["what it published as \"value-link\" can't be read"]),
        // Moves the whole folder away, if it may, and replaces it with a link that the daemon would follow.
        OutputAttempt(
            name: "value-folder", modifiers: ".publishes(Value<String>(\"token\"))",
            script: """
                mv "$PIPECTL_VALUES_OUT" "$PIPECTL_VALUES_OUT-away" && ln -s @ROOT@/outside "$PIPECTL_VALUES_OUT"
                echo moved $?
                """,
            says: ["published"]),
        OutputAttempt(
            name: "value-nested", modifiers: ".publishes(Value<String>(\"nested\"))",
            script: "head -c 1000000 /dev/zero | tr '\\0' '[' > \"$PIPECTL_VALUES_OUT/nested.json\"",
            says: ["what it published as \"nested\" is not JSON"]),
        OutputAttempt(
            name: "value-huge", modifiers: ".publishes(Value<String>(\"huge\"))",
            script: "truncate -s 1G \"$PIPECTL_VALUES_OUT/huge.json\"", says: ["the limit for one file"]),
    ]

    /// Exchange a folder of the workspace with a link to one outside while the daemon collects files from it.
    static let racers = ["race-1", "race-2", "race-3", "race-4"]
    static let racing = """
        mkdir -p race; mkdir race/turn; echo inside > race/turn/secret.txt; ln -s @ROOT@/outside race/link
        @PROBE@ exchange race/turn race/link 2500
        """
    static let racer = "while [ ! -e race/link ]; do sleep 0.01; done; echo collected"

    /// Settings with which Git and its helpers would run code of the workspace's repository.
    static let poison = """
        pay() { printf '#!/bin/sh\\ntouch @ROOT@/outside/@MARK@-%s\\n' "$1" > "$2"; chmod +x "$2"; }
        mkdir -p payload .git/hooks .git/info
        for name in fsmonitor ssh pager editor filter diff credential; do pay $name payload/$name; done
        for hook in post-checkout post-merge pre-commit reference-transaction post-index-change; do
            pay $hook .git/hooks/$hook
        done
        git config core.fsmonitor "$PWD/payload/fsmonitor"
        git config core.hooksPath "$PWD/.git/hooks"
        git config core.sshCommand "$PWD/payload/ssh"
        git config core.pager "$PWD/payload/pager"
        git config core.editor "$PWD/payload/editor"
        git config filter.x.clean "$PWD/payload/filter"
        git config filter.x.smudge "$PWD/payload/filter"
        git config diff.external "$PWD/payload/diff"
        git config credential.helper "$PWD/payload/credential"
        git config safe.directory '*'
        echo '* filter=x diff=x' > .git/info/attributes
        git config core.worktree @ROOT@/outside
        echo @ROOT@/outside > .git/objects/info/alternates-more
        echo poisoned
        """
}
