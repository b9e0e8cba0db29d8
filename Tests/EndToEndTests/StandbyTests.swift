#if os(Linux)
    import Results
    import Foundation
    import TestSupport
    import Testing

    /// A sandbox that is ready before there is a run for it is as good as one that is made for the run.
    @Suite(.timeLimit(.minutes(4))) struct StandbyTests {
        /// Says where its workspace is, who it is, what was there before it, and leaves something everywhere.
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
                    // The first has none, and whether one is ready for those that follow is a race that a test can't win
                    // every time: it goes on until three have had one.
                    for number in 1...20 {
                        try await bench.change(number, ["own.txt": "change \(number)\n"])
                        _ = try await daemon.line("run \(number) test")
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
                // The one that waited when the daemon ended has left nothing.
                for folder in ["live", "workspaces"] {
                    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)") == [])
                }
            }
        }

        /// Says what of other runs is in its workspace, and what is mounted there; leaves something.
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

        /// The same where a workspace is laid over a base, which is chosen when the sandbox has been there for long.
        @Test func `a run over a snapshot uses a standby sandbox as well`() async throws {
            let step = "Step(\"check\", run: \"sh check.sh\").neverProved()"
            try await Bench.with(Workflows.test(step, files: ["check.sh": Self.warm, "own.txt": "main\n"])) { bench in
                var found: [[String: String]] = []
                try await bench.withDaemon("--refresh") { daemon in
                    _ = try await daemon.line("baseline of")
                    for number in 1...20 {
                        try await bench.change(number, ["own.txt": "change \(number)\n"])
                        _ = try await bench.pipectl("notify")
                        // After the first one the box makes a base.
                        let id = RunID(number == 1 ? 1 : number + 1)
                        #expect(try await bench.ended(id).verdict == .passed)
                        #expect(try await bench.report(id).base?.run == (number == 1 ? nil : 2))
                        if number == 1 { #expect(try await bench.ended(2).verdict == .passed) }
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
                // The folder that the mount came to, and the mount; of the layers nothing.
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
                    _ = try await daemon.line("run 1 test")
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    // Its sandbox is the only one that can be there now.
                    #expect(
                        try await bench.command(["sh", "-c", Self.until("test -n \"$one\""), bench.home]).code == 0)
                    kill(daemon.child.id, SIGKILL)
                    _ = await daemon.end()
                    #expect(
                        try await bench.command(["sh", "-c", Self.until("test -z \"$one\""), bench.home]).code == 0)
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
                        try await bench.command(["sh", "-c", Self.until("test \"$count\" -eq 4"), bench.home]).code == 0
                    )
                    try Data().write(to: URL(fileURLWithPath: "\(bench.meet)/go"))
                    for number in 1...2 { _ = try await bench.pipectl("logs", "\(number)", "--follow") }
                    #expect(await daemon.stop() == 0)
                    #expect(
                        try await bench.command(["sh", "-c", Self.until("test -z \"$one\""), bench.home]).code == 0)
                }
            }
        }

        /// Waits, 20 s at most, until what is said of `$one` is true, the processes that see a standby of this bench, or
        /// of `$count`, how many workspaces the sandboxes of this bench show.
        private static func until(_ condition: String) -> String {
            """
            # As a path in its file system, which may be mounted below the root.
            places="$(basename "$(dirname "$0")")/$(basename "$0")/workspaces"
            for turn in $(seq 200); do
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
