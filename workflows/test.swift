import Pipeline

/// Tests every change as it would look once merged.
let test = Workflow("test", on: .pullRequest(into: "main")) {
    // The only step that may use the network.
    let resolve = Step("resolve", run: "swift package resolve")
        .network(.allowed)
        .inputs("Package.swift")
    let build = Step("build", needs: resolve, run: "script/test --build")
        .inputs("Package.swift", "Sources", "Tests", "script/test")

    Step("format", run: "swift format lint --strict --recursive Sources Tests workflows Package.swift")
        .inputs(only: ".swift-format", "Package.swift", "Sources", "Tests", "workflows")
    Step("rooms", run: "script/rooms")
        .inputs(only: "Package.swift", "Sources", "Tests", "docs/rooms.svg", "script/rooms", "workflows/Areas.swift")
    Step("reference", run: "script/docs")
        .inputs(only: "Sources/Pipeline", "script/docs")
    areaTests(needs: build)
}

/// An area of the tests: a folder of Tests/.
struct Area {
    /// The name that script/test knows it by.
    let name: String
    /// The files and folders that decide the result of its tests, besides Package.swift.
    let inputs: [String]

    init(_ name: String, _ inputs: String...) {
        self.name = name
        self.inputs = inputs
    }
}

/// Tests that start processes and compare times with a clock need the machine for themselves.
private let machine = Resource("test machine", capacity: 1)

/// A step for each area. An area is proved as long as no room that it depends on has changed, although the build has.
func areaTests(needs build: Step) -> [Step] {
    areas.map { area in
        let results = ".build/results/\(area.name)"
        let step = Step(
            "\(area.name) tests", needs: build, run: "script/test --run \(area.name) --results \(results)"
        )
        .uses(machine)
        // Many tests start pipectl, which makes its sandboxes inside this one.
        .allows(.nestedSandboxes)
        .timeout(.minutes(45))
        .testResults(.junit("\(results)/*.xml"))
        return area.inputs.reduce(step.inputs(only: "Package.swift", "script/test")) { $0.inputs(only: $1) }
    }
}
