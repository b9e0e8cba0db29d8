import TestBasics
import Results

#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// A step of a change runs beside the review of that change and tries to influence its result.
    struct EscapeReviewTests {
        /// A file of the change with which the step attacks while the review waits. It prints ESCAPED for each success.
        private static let attack = """
            until test -e "$MEET/reviewing"; do sleep 0.1; done
            for process in /proc/[0-9]*; do
                if tr '\\0' '\\n' < $process/environ 2>/dev/null | grep -qx PIPECTL_STEP=review; then
                    echo "ESCAPED sees ${process#/proc/}"
                    echo '{"findings": []}' > $process/fd/1 && echo "ESCAPED wrote to standard output"
                    : >> $process/mem && echo "ESCAPED opened memory"
                    kill -CONT ${process#/proc/} && echo "ESCAPED signalled"
                fi
            done
            for folder in /run/pipectl/published/*/; do
                echo '{"findings": []}' > $folder/review.json && echo "ESCAPED wrote $folder"
            done
            for file in /run/pipectl/values/*review* /run/pipectl/passwd; do
                echo planted > $file && echo "ESCAPED wrote $file"
            done
            echo planted > b.txt; echo planted > ~/planted; echo planted > /var/tmp/planted; echo planted > /tmp/planted
            : > "$MEET/tried"
            """

        @Test(.timeLimit(.minutes(6)))
        func `no step of a change reaches its review`() async throws {
            try await Bench.with { bench in
                // It waits until the other step has tried everything, and then prints what it sees.
                let reviewer =
                    "cat > /dev/null; : > $MEET/reviewing; until test -e $MEET/tried; do sleep 0.1; done; "
                    + "printf '{\\\"findings\\\": [{\\\"severity\\\": \\\"error\\\", \\\"message\\\": \\\"%s\\\"}]}' "
                    + "\\\"saw $(cat b.txt) $(ls -A ~ /var/tmp /tmp | grep -c planted)\\\""
                let steps = """
                    Step("attack", run: "MEET=$MEET; export MEET; sh attack.sh 2>/dev/null")
                    Review(by: "\(reviewer)", within: .seconds(30))
                    """.replacing("$MEET", with: bench.meet)
                try await bench.commit(Workflows.test(steps, files: ["README.md": "base\n"]), "Review")
                _ = try await bench.look()
                try await bench.change(1, ["attack.sh": Self.attack, "b.txt": "original\n"])
                let look = try await bench.look("--slots", "2")
                #expect(look.code == 1, "\(look.output)\(look.errors)")
                let report = try await bench.report(1)
                let attack = try await bench.pipectl("logs", "1", "attack").output
                #expect(report.steps.first { $0.name == "attack" }?.status == .passed, "\(attack)")
                #expect(!attack.contains("ESCAPED"), "\(attack)")
                let review = try #require(report.steps.first { $0.name == "review" }?.review)
                #expect(review.findings.map(\.message) == ["saw original 0"])
            }
        }
    }
#endif
