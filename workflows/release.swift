import Pipeline

/// Builds and tests what was merged once more, from nothing, and keeps an archive with its checksum.
let release = Workflow("release", on: .merge(into: "main")) {
    // The only step that may use the network.
    let resolve = Step("resolve", run: "swift package resolve")
        .network(.allowed)
    let buildTests = Step("build the tests", needs: resolve, run: "script/test --build")
        .timeout(.hours(2))
    let tests = areaTests(needs: buildTests)

    // Builds for release, and packs it with sorted entries, without owners, dated by the commit.
    let package = Step("package", needs: tests, run: "script/package --url '@ADDRESS@/releases/download/@TAG@'")
        .timeout(.hours(3))
        .idempotent()
        .artifacts("dist/*.tar.gz", "dist/*.deb", "dist/pipectl.rb")
    let version = Release(
        version: .file("Sources/Results/Runs/Report+Machine.swift"), files: "dist/*", needs: package
    ).formula("pipectl.rb").signed(with: "SIGNING_KEY")
    let gate = Step.approval("publish it", needs: version.step)
    Step.publish("at the forge", version, needs: gate, to: .forge())
}
