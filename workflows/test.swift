import Pipeline

/// Tests every change as it would look once merged.
let test = Workflow("test", on: .pullRequest(into: "main")) {
    // The only step that may use the network.
    let resolve = Step("resolve", run: "swift package resolve")
        .network(.allowed)
    let build = Step("build", needs: resolve, run: "swift build --build-tests")

    Step("format", run: "swift format lint --strict --recursive Sources Tests workflows Package.swift")
    unitTests(needs: build)
}

/// The tests of a debug build, every one of them by name in the report.
func unitTests(needs build: Step) -> Step {
    Step(
        "unit tests", needs: build,
        run: "swift test --skip-build --disable-xctest --xunit-output .build/tests.xml"
    )
    .timeout(.minutes(15))
    .testResults(.junit(".build/tests*.xml"))
}
