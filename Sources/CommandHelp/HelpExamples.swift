/// Examples for each command, by its words, with notes on their purpose.
///
/// A test parses every one of them.
package enum HelpExamples {
    /// One example: the command, and a note if it is not self-evident.
    package typealias Example = (line: String, note: String)

    package static let all: [String: [Example]] = [
        "init": [
            ("pipectl init", "in the top folder of a repository"),
            ("pipectl init --test 'script/test --all'", "with a command of your own"),
            ("pipectl init --folder ~/Code/website --branch next", ""),
        ],
        "editor": [("pipectl editor", "after a clone, or when pipectl has moved")],
        "validate": [("pipectl validate", ""), ("pipectl validate --folder ~/Code/website --json", "")],
        "plan": [
            ("pipectl plan", "all workflows"), ("pipectl plan test --why", "which steps an earlier run proves"),
            ("pipectl plan test --machines", "which steps may run on another machine"),
            ("pipectl plan release --format dot | dot -Tsvg > plan.svg", ""),
        ],
        "run": [
            ("pipectl run test", "the working tree as it is"),
            ("pipectl run test --change 12 --step 'unit tests'", "some steps of a change"),
            ("pipectl run publish --param version=1.2.0 --ref v1.2.0", ""),
            ("pipectl run test --repository website --ref main", "from anywhere"),
        ],
        "releases": [("pipectl releases", ""), ("pipectl releases --repository website --json", "")],
        "release": [("pipectl release", "the newest"), ("pipectl release 1.2.0", "")],
        "release show": [("pipectl release show", "the newest"), ("pipectl release show 1.2.0 --json", "")],
        "release notes": [
            ("pipectl release notes 1.2.0 > notes.md", ""),
            ("pipectl release notes 1.2.0 --file notes.md", "before it is published"),
        ],
        "release files": [("pipectl release files 1.2.0 --output dist", "")],
        "release verify": [("pipectl release verify 1.2.0 --key release.pub", "")],
        "release yank": [("pipectl release yank 1.2.0 --reason 'it loses data'", "")],
        "integrity": [
            ("pipectl integrity", "this commit, compared with the target that a daemon knows"),
            ("pipectl integrity --against main", "compared with main"),
            ("pipectl integrity agent/parser --repository website", ""),
        ],
        "watch": [
            ("pipectl watch .", "pull requests of this repository"),
            ("pipectl watch ~/Code/website --changes 'agent/*'", "branches are changes"),
            ("pipectl watch", "the repositories of the settings file"),
            ("pipectl watch https://git.example.com/team/tool --interval 1m", ""),
        ],
        "forge": [("pipectl forge", "which repositories are connected, and what is not shown yet")],
        "forge connect": [
            ("pipectl forge connect https://github.com/octo/hello --app 1001 --key-file hello.pem", "as a GitHub App"),
            ("pipectl forge connect https://gitlab.com/octo/hello --token-file token", ""),
            ("pipectl forge connect https://git.example.com/octo/hello --kind forgejo", "asks for the token"),
        ],
        "forge status": [("pipectl forge status", ""), ("pipectl forge status --offline --json", "")],
        "forge sign-in": [("pipectl forge sign-in < client-secret", "for the setting pagesSignIn")],
        "forge disconnect": [("pipectl forge disconnect --repository hello", "")],
        "notify": [("pipectl notify \"$PWD\"", "in a post-receive hook")],
        "status": [("pipectl status", ""), ("pipectl status --json", "")],
        "wait": [
            ("git push && pipectl wait", "the verdict of what was just pushed"),
            ("pipectl wait '#7' --until verdict", "not only to the first failure"),
            ("pipectl wait agent/parser --timeout 15m", ""), ("pipectl wait --change 12 --json", ""),
        ],
        "approve": [
            ("pipectl approve 22", ""), ("pipectl approve 22 --step 'ship it'", ""),
            ("pipectl approve 22 --reject --reason 'not on a Friday'", ""),
        ],
        "protect": [("pipectl protect main", ""), ("pipectl protect develop --repository website", "")],
        "cancel": [("pipectl cancel 22", "")],
        "land": [
            ("pipectl land 7", ""), ("pipectl land 9 --priority 10", "before the others"),
            ("pipectl land 7 --cancel", "takes it out of the queue"),
        ],
        "queue": [
            ("pipectl queue", ""), ("pipectl queue --freeze 'the release is being built'", ""),
            ("pipectl queue --resume", ""),
        ],
        "rerun": [
            ("pipectl rerun 22", ""), ("pipectl rerun 22 --failed", "repeats only what failed"),
        ],
        "open": [
            ("pipectl open 22", "a shell where its first failed step ran"),
            ("pipectl open 22 --step 'unit tests' -- ls -l build", "a command instead"),
        ],
        "fix": [("pipectl fix 22", ""), ("pipectl fix 22 --patch | git am", "applies the fix that passed")],
        "machines": [("pipectl machines", "what they offer and run, and why one is not used")],
        "machines list": [("pipectl machines list --json", "")],
        "machines add": [
            ("pipectl machines add ssh://ci@mini.local --label xcode-26", "asks whether the host key is right"),
            ("pipectl machines add slurm://ci --cpus 16 --memory 64GiB --slots 20", ""),
            ("pipectl machines add slurm://ci --cpus 16 --memory 64GiB --shared /home/ci/pipectl", ""),
        ],
        "machines drain": [
            ("pipectl machines drain mini", ""), ("pipectl machines drain mini --end", "runs may start again"),
        ],
        "machines remove": [("pipectl machines remove mini", "")],
        "secrets": [("pipectl secrets list", "")],
        "secrets set": [
            ("pipectl secrets set DEPLOY_TOKEN < token.txt", ""),
            ("pipectl secrets set DEPLOY_TOKEN --repository website", "typed, hidden"),
        ],
        "secrets list": [("pipectl secrets list", "names, places and dates")],
        "secrets remove": [("pipectl secrets remove DEPLOY_TOKEN", "")],
        "runs": [
            ("pipectl runs --branch main -n 5", ""), ("pipectl runs --verdict failed --since 2d", ""),
        ],
        "show": [("pipectl show 22", "")],
        "logs": [
            ("pipectl logs 22 --failed --tail 50", ""), ("pipectl logs 22 'unit tests' --follow", ""),
            ("pipectl logs 22 --grep 'error|warning' -C 3", ""),
        ],
        "report": [
            ("pipectl report 22 --format html --output report.html", ""),
            ("pipectl report 22 --bundle", "what must change before it passes"),
        ],
        "compare": [("pipectl compare 22", "with the target's run"), ("pipectl compare 22 19", "")],
        "bisect": [
            ("pipectl bisect ParserTests/quotes", ""), ("pipectl bisect ParserTests/quotes --good v1.2", ""),
            ("pipectl bisect ParserTests/quotes --repository website", "from anywhere"),
        ],
        "landed": [
            ("pipectl landed v1.1..v1.2 --notes", "release notes in Markdown"),
            ("pipectl landed main~1..main", "the changes in the newest commit"),
            ("pipectl landed --changes 'agent/*'", "branches are changes"),
        ],
        "artifacts": [
            ("pipectl artifacts list 22", ""), ("pipectl artifacts download --branch main --latest", ""),
        ],
        "artifacts list": [("pipectl artifacts list last", "")],
        "artifacts download": [
            ("pipectl artifacts download 22 'dist/*.tar.gz' --output out", ""),
            ("pipectl artifacts download --branch main --latest", "of the newest run that passed there"),
        ],
        "results": [("pipectl results build/tests.xml", ""), ("pipectl results --json TestResults/*.trx", "")],
        "history": [("pipectl history ParserTests/quotes", "")],
        "flaky": [("pipectl flaky", "")],
        "slowest": [("pipectl slowest -n 10", "")],
        "schema": [("pipectl schema bundle > bundle.schema.json", "")],
        "verify": [
            ("pipectl verify tool-1.2.0.tar.gz --key release.pub --release-version 1.2.0", ""),
            ("pipectl verify dist --key release.pub --at-least 1.2.0", "a folder with a whole release"),
            ("pipectl verify tool.deb --key release.pub --revoked revoked.txt --json", ""),
        ],
        "task": [("pipectl task", "all tasks, those that wait for you first")],
        "task add": [
            ("pipectl task add 'the cart crashes when it is empty' --crash Cart.ips", ""),
            ("pipectl task add --issue 7 --repository shop", "what the issue says"),
            ("pipectl task add - --file log.txt < request.md", ""),
        ],
        "task list": [("pipectl task list", ""), ("pipectl task list --in ready --json", "")],
        "task show": [
            ("pipectl task show 12", "its way, the plan, what was done"),
            ("pipectl task show 12 --diff", "what the new version of the plan changes"),
            ("pipectl task show 12 --patch | git apply", ""),
        ],
        "task watch": [
            ("pipectl task watch 12", "until you must decide"),
            ("pipectl task watch 12 --until landed --stay --timeout 2h", ""),
        ],
        "task approve": [("pipectl task approve 12 --plan 2", "the version that you read")],
        "task remark": [("pipectl task remark 12 'guard it in Cart, not in each caller'", "")],
        "task refuse": [("pipectl task refuse 12 --reason 'it is meant so'", "")],
        "task cancel": [("pipectl task cancel 12", "")],
        "task land": [("pipectl task land 12", "")],
        "mcp": [("pipectl mcp", "started by a coding agent, not by hand")],
        "agents": [("pipectl agents install", "")],
        "agents install": [("pipectl agents install", "in the top folder of a repository")],
        "archive": [("pipectl archive verify", "")],
        "archive verify": [("pipectl archive verify", "")],
        "archive reindex": [("pipectl archive reindex", "when the index is damaged or was removed")],
        "archive restore": [("pipectl archive restore", "from the daemon's daily copy")],
        "archive push": [("pipectl archive push ssh://backup.example.com/pipectl.git", "")],
        "gc": [
            ("pipectl gc --max-age 90d --dry-run", "shows what would be removed"),
            ("pipectl gc --max-runs 5000", ""),
        ],
        "proofs": [("pipectl proofs", "")],
        "proofs list": [("pipectl proofs list", "")],
        "proofs trust": [("pipectl proofs trust 'unit tests'", "after its declaration was corrected")],
        "service": [("pipectl service status", "")],
        "service install": [
            ("pipectl service install", "in your own systemd, or launchd"),
            ("sudo pipectl service install --system --account builder", "at each boot of the machine"),
            ("pipectl service install --print", "shows the file"),
        ],
        "service uninstall": [("pipectl service uninstall", "the state folder stays")],
        "service status": [("pipectl service status --json", "")],
        "upgrade": [
            ("pipectl upgrade --check --from https://example.com/pipectl/release.json", ""),
            ("pipectl upgrade --check --from /srv/releases", "a folder of tarballs"),
        ],
        "config": [("pipectl config show", "")],
        "config show": [
            ("pipectl config show --changed", "without defaults"), ("pipectl config show --json", ""),
        ],
        "config check": [("pipectl config check --config /etc/pipectl.json", "before a restart")],
        "pages": [
            ("pipectl pages", "on a machine with a display"), ("pipectl pages --print", "a link for another browser"),
        ],
        "token": [("pipectl token", "which tokens there are")],
        "token create": [
            ("pipectl token create dashboard --scope read", ""),
            ("pipectl token create bot --scope operate --expires 90d", ""),
            ("pipectl token create sso --scope proxy", "for a proxy that people log in to"),
        ],
        "token list": [("pipectl token list", ""), ("pipectl token list --json", "")],
        "token revoke": [
            ("pipectl token revoke dashboard", ""), ("pipectl token revoke --sessions", "logs all browsers out"),
        ],
        "doctor": [("pipectl doctor", "")],
    ]
}
