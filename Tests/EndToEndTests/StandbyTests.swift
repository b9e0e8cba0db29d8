#if os(Linux)
    import DaemonLog
    import TestBasics
    import Results
    import Foundation
    import TestSupport
    import Testing

    /// A standby sandbox works the same as one that is made for the run.
    @Suite(.timeLimit(.minutes(8))) struct StandbyTests {
        /// Prints its workspace, its user and earlier files, and leaves a file everywhere.
        static let check = """
            grep ' /workspace ' /proc/self/mountinfo | sed -n 's|.*/workspaces/\\([^ ]*\\).*|place \\1|p'
            echo "user $(id -u)"
            echo "name $(id -un)"
            places="$HOME /tmp /var/tmp /run/pipectl/values /run/pipectl/published"
            echo "found $(ls -A $places | grep -v -e : -e '^pipectl-e' -e '^1-check' | tr -d '\\n')"
            echo "own $(cat own.txt)"
            for folder in "$HOME" /tmp /var/tmp /run/pipectl/published .; do echo left > "$folder/left"; done

            """

        private static func hadOne(_ facts: [String: String]) -> Bool { facts["place"]?.contains("standby-") == true }

        @Test func `each run uses a standby sandbox of its own`() async throws {
            let steps = "Step(\"check\", run: \"sh check.sh\")"
            try await Bench.with(Workflows.test(steps, files: ["check.sh": Self.check])) { bench in
                var found: [[String: String]] = []
                try await bench.withDaemon { daemon in
                    // The first run has none. Whether one is ready for the next runs is a race that a test can't always
                    // win, so it continues until three runs have had one.
                    for number in 1...20 {
                        try await bench.change(number, ["own.txt": "change \(number)\n"])
                        try await daemon.event(.runQueued, run: RunID(number))
                        _ = try await bench.pipectl("logs", "\(number)", "--follow")
                        let words = try await bench.pipectl("logs", "\(number)").output.split(separator: "\n")
                        let facts = words.map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
                        found.append(Dictionary(facts.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 })
                        #expect(found.last?["own"] == "change \(number)", "\(words)")
                        if found.count(where: Self.hadOne) >= 3 { break }
                    }
                    #expect(await daemon.stop() == 0)
                }
                #expect(found.first?["place"] == "1-1")
                #expect(found.count(where: Self.hadOne) >= 3, "\(found)")
                #expect(Set(found.map { $0["place"] }).count == found.count, "none is used twice: \(found)")
                #expect(found.allSatisfy { $0["found"] == "" }, "nothing of another run is there: \(found)")
                #expect(found.allSatisfy { $0["name"] == "pipectl" }, "\(found)")
                if geteuid() == 0 { #expect(Set(found.map { $0["user"] }).count == found.count, "\(found)") }
                // The standby sandbox at the daemon's end has left nothing.
                for folder in ["live", "workspaces"] {
                    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)") == [])
                }
            }
        }

        /// Prints which files of other runs and which mounts are in its workspace; leaves a file.
        static let warm = """
            grep ' /workspace' /proc/self/mountinfo | sed -n 's|.*/workspaces/\\([^ ]*\\).*|place \\1|p'
            echo "mounts $(grep -c ' /workspace' /proc/self/mountinfo)"
            echo "user $(id -u)"
            echo "owner $(stat -c %u . own.txt left 2>/dev/null | sort -u | tr '\\n' ' ')"
            echo "before $(cat left 2>/dev/null)"
            echo "own $(cat own.txt)"
            ls -d /proc/1/cwd/. 2>&1 | grep -q denied && echo "closed yes"
            echo "$PIPECTL_RUN" > left; echo "$PIPECTL_RUN" > "left$PIPECTL_RUN"
            echo "after $(ls left* | wc -l)"

            """

        /// The same for a workspace over a snapshot, which is chosen long after the sandbox was started.
        @Test func `a run over a snapshot uses a standby sandbox as well`() async throws {
            let step = "Step(\"check\", run: \"sh check.sh\").neverProved()"
            try await Bench.with(Workflows.test(step, files: ["check.sh": Self.warm, "own.txt": "main\n"])) { bench in
                var found: [[String: String]] = []
                try await bench.withDaemon("--refresh") { daemon in
                    try await daemon.event(.baseline)
                    for number in 1...20 {
                        try await bench.change(number, ["own.txt": "change \(number)\n"])
                        _ = try await bench.pipectl("notify")
                        // After the first run the daemon makes a snapshot.
                        let id = RunID(number == 1 ? 1 : number + 1)
                        #expect(try await daemon.ended(id).verdict == .passed)
                        #expect(try await bench.report(id).base?.run == (number == 1 ? nil : 2))
                        if number == 1 { #expect(try await daemon.ended(2).verdict == .passed) }
                        let words = try await bench.pipectl("logs", "\(id)").output.split(separator: "\n")
                        let facts = words.map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
                        found.append(Dictionary(facts.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 })
                        #expect(found.last?["own"] == "change \(number)", "\(words)")
                        if found.count(where: Self.hadOne) >= 3 { break }
                    }
                    #expect(await daemon.stop() == 0)
                }
                let ready = found.filter(Self.hadOne)
                #expect(ready.count >= 3, "\(found)")
                #expect(Set(ready.map { $0["place"] }).count == ready.count, "none is used twice: \(found)")
                // The folder of the mount and the mount itself; no layers.
                #expect(ready.allSatisfy { $0["mounts"] == "2" }, "\(found)")
                #expect(found.allSatisfy { $0["closed"] == "yes" }, "nobody gets below the mount: \(found)")
                #expect(found.dropFirst().allSatisfy { $0["before"] == "2" && $0["after"] == "3" }, "\(found)")
                #expect(found.allSatisfy { $0["owner"] == $0["user"].map { "\($0) " } }, "\(found)")
                for folder in ["live", "workspaces"] {
                    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)") == [])
                }
            }
        }

        @Test func `standby sandboxes end with the daemon`() async throws {
            try await Bench.with(Workflows.test("Step(\"one\", run: \"true\")")) { bench in
                try await bench.withDaemon { daemon in
                    try await bench.change(1, ["own.txt": "1\n"])
                    try await daemon.event(.runQueued, run: 1)
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    // Its sandbox is the only one that can exist now.
                    #expect(
                        try await Self.becomes("test -n \"$one\"", bench))
                    daemon.child.signal(SIGKILL)
                    _ = await daemon.end()
                    #expect(
                        try await Self.becomes("test -z \"$one\"", bench))
                }
            }
        }

        @Test func `as many standby sandboxes wait as runs may run together`() async throws {
            try await Bench.with(["README.md": "begin\n"]) { bench in
                let line = "until test -e \(bench.meet)/go; do sleep 0.05; done"
                try await bench.commit(Workflows.test("Step(\"one\", run: \"\(line)\")"), "Workflows")
                try await bench.withDaemon("--slots", "2") { daemon in
                    for number in 1...2 { try await bench.change(number, ["own.txt": "\(number)\n"]) }
                    #expect(
                        try await Self.becomes("test \"$count\" -eq 4", bench)
                    )
                    try Data().write(to: URL(fileURLWithPath: "\(bench.meet)/go"))
                    for number in 1...2 { _ = try await bench.pipectl("logs", "\(number)", "--follow") }
                    #expect(await daemon.stop() == 0)
                    #expect(
                        try await Self.becomes("test -z \"$one\"", bench))
                }
            }
        }

        private static func becomes(_ condition: String, _ bench: Bench) async throws -> Bool {
            try await bench.command(["sh", "-c", until(condition), bench.home], within: .seconds(600)).code == 0
        }

        /// Waits at most five minutes until the condition is true. It may use `$one`, the processes that see a standby sandbox
        /// of this bench, and `$count`, the number of workspaces that this bench's sandboxes show.
        private static func until(_ condition: String) -> String {
            """
            # As a path in its file system, which may be mounted below the root.
            places="$(basename "$(dirname "$0")")/$(basename "$0")/workspaces"
            for turn in $(seq 3000); do
                one=$(grep -l "$places/standby-" /proc/[0-9]*/mountinfo 2>/dev/null)
                count=$(grep -h -o "$places/[^ ]*" /proc/[0-9]*/mountinfo 2>/dev/null | sort -u | wc -l)
                if \(condition); then exit 0; fi
                sleep 0.1
            done
            exit 1
            """
        }
    }
#endif
