import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Fixers that are wrong, slow or malicious: none of their work is offered, and nothing of them stays.
struct FixHostileTests {
    @Test(.timeLimit(.minutes(10)), arguments: FixHostility.cases)
    func `hostile files of a fixer are not taken`(_ one: FixHostility) async throws {
        try await Bench.with { bench in
            let limits =
                one.words == "workspace" ? ", limits: .workspace(.mebibytes(200))" : ", limits: .output(.mebibytes(8))"
            let time = one.name == "it never ends" ? 5 : 120
            try await Fixing.begin(bench, one.script, ", within: .seconds(\(time))\(limits)")
            let series = try await Fixing.series(bench)
            let attempt = try #require(series.attempts.first)
            if let outcome = one.outcome {
                #expect(series.state == .givenUp, "\(series)")
                #expect(attempt.outcome == outcome && attempt.check == nil, "\(attempt)")
                #expect(attempt.reason.contains(one.words), "\(attempt.reason)")
                #expect(attempt.commit == nil && attempt.patch == nil)
                #expect(!attempt.reason.unicodeScalars.contains { $0.value < 0x20 })
            } else {
                // Whatever it did to its own .git, only the files count.
                #expect(attempt.outcome == .made && series.state == .givenUp && attempt.verdict == .failed, "\(series)")
                #expect(try await Fixing.changes(bench, attempt) == ["M value.txt"])
            }
            #expect(!FileManager.default.fileExists(atPath: "/tmp/ran"))
            // No trace is left: no ref in the repository, no live run, no files.
            let refs = try await bench.git(["for-each-ref", "--format=%(refname)"])
            #expect(refs.split(separator: "\n").sorted() == ["refs/heads/main", "refs/pull/1/head"])
            for folder in ["workspaces", "live"] {
                #expect(try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)") == [])
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `paths that the target protects are not taken`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, FixHostility.good, integrity: ".testIntegrity(.untouched(\"value.*\"))")
            let series = try await Fixing.series(bench)
            #expect(series.state == .givenUp && series.attempts.first?.outcome == .refused, "\(series)")
            #expect(series.reason.contains("value.txt"), "\(series.reason)")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `processes that a fixer starts end with it`() async throws {
        try await Bench.with { bench in
            let name = "stay\(UInt32.random(in: 0 ... .max))"
            try await Fixing.begin(
                bench,
                """
                cp /bin/sleep "$TMPDIR/\(name)"; (setsid "$TMPDIR/\(name)" 1000 > /dev/null 2>&1 &) ; "$TMPDIR/\(name)" 1000 &
                \(FixHostility.good)
                """)
            let series = try await Fixing.series(bench)
            #expect(series.state == .offered, "\(series)")
            let left = try await bench.command(["sh", "-c", "cat /proc/[0-9]*/comm 2> /dev/null | grep -c \(name)"])
            #expect(left.output == "0\n")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a fixer gets no secret`() async throws {
        try await Bench.with { bench in
            let set = try await bench.command(
                ["sh", "-c", "echo hunter2hunter2 | \"$0\" secrets set TOKEN --repository repo", Bench.pipectl],
                in: bench.repository)
            #expect(set.code == 0, "\(set.errors)")
            try await Fixing.begin(
                bench, "env > \(bench.meet)/env; ls -R /run > \(bench.meet)/run || true; \(FixHostility.good)")
            _ = try await Fixing.series(bench)
            let seen = try String(contentsOfFile: "\(bench.meet)/env", encoding: .utf8)
            #expect(seen.contains("PIPECTL_FIX_PROMPT=") && !seen.contains("hunter2"), "\(seen)")
            #expect(!seen.contains(bench.home), "nothing says where the box has its state: \(seen)")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a test that a fix loses in the results is found`() async throws {
        try await Bench.with { bench in
            var files = Fixing.files(bench)
            files["workflows/x.swift"] = files["workflows/x.swift"]?.replacing(
                "run: \"sh check.sh\")", with: "run: \"sh check.sh\").testResults(.junit(\"results.xml\"))")
            // The runner takes its tests from a list, which no rule about sources reads.
            files["check.sh"] = """
                { echo '<testsuite>'; while read t; do
                if [ "$t" = sums ] && ! grep -qx good value.txt; then echo "<testcase classname='C' name='$t'><failure/></testcase>"
                else echo "<testcase classname='C' name='$t'/>"; fi; done < list; echo '</testsuite>'; } > results.xml
                ! grep -q '<failure' results.xml

                """
            files["list"] = "adds\nsums\n"
            try await bench.commit(files, "Fix")
            try Fixing.write(bench, "echo adds > list")
            let series = try await Fixing.series(bench)
            #expect(series.state == .givenUp, "\(series)")
            #expect(
                series.attempts.first?.reason.contains("C/sums ran in run 1 and is missing here") == true,
                "\(series)")
        }
    }
}
