import Pipeline

/// How one project of a repository is built and tested, as steps of the first workflows.
package struct SeedRecipe: Sendable {
    /// A step as it is written into a workflow. Paths and globs are relative to the project's folder.
    struct SeedStep: Sendable {
        var name: String
        var command: String
        var needs: [String] = []
        /// Whether the step may use the network.
        var isOnline = false
        /// In minutes; nil for the default.
        var timeout: Int?
        /// Globs of files with test results.
        var results: [String] = []
        var artifacts: [String] = []
        var inputs: [String] = []
        var outputs: [String] = []
        /// Names and paths of caches.
        var caches: [(name: String, path: String)] = []
        /// A comment above the step, if it needs an explanation.
        var comment: String?
    }

    /// A tool that is in use but can't be turned into steps: the file that shows it, and the reason.
    package struct Doubt: Sendable, Equatable, CustomStringConvertible {
        var file: String
        var reason: String
        package var description: String { "\(file): \(reason)" }
    }

    /// Shell lines that make `dist/$name.tar.gz`, with their comment.
    struct Archive: Sendable {
        var lines = ["git archive --format=tar --prefix=\"$name/\" HEAD | gzip -9n > \"dist/$name.tar.gz\""]
        var comment = "The sources, the same bytes each time. Ship something else? Put it in dist/ here."
    }

    /// The tool's name. In a repository with several projects, the names of steps begin with it.
    package var tool: String
    /// The project's folder, relative to the top of the repository; empty for the top itself.
    package var folder = ""
    /// The steps in order, each after those that it needs, with the tests.
    var steps: [SeedStep]
    /// Steps that run beside them, on changes only.
    var checks: [SeedStep] = []
    /// Steps that a release runs before it packs.
    var releaseSteps: [SeedStep]
    var archive: Archive?
    /// What its own workflows are made of, if the repository is one app.
    var xcode: XcodeSeed?
    /// Programs that must be installed on the machine.
    package var programs: [String] = []

    /// A chain of steps that fetch, build and test, and for releases build once more.
    init(
        _ tool: String, in folder: SeedFolder, resolve: SeedStep? = nil, build: String? = nil, test: SeedStep,
        release: String? = nil
    ) {
        var steps: [SeedStep] = []
        func add(_ step: SeedStep?) {
            guard var step else { return }
            step.needs = steps.last.map { [$0.name] } ?? []
            steps.append(step)
        }
        add(resolve)
        add(build.map { SeedStep(name: "build", command: $0) })
        add(test)
        self.tool = tool
        self.folder = folder.path
        self.steps = steps
        add(release.map { SeedStep(name: "release build", command: $0) })
        releaseSteps = steps
    }

    init(_ tool: String, in folder: SeedFolder, steps: [SeedStep], releaseSteps: [SeedStep]) {
        (self.tool, self.folder, self.steps, self.releaseSteps) = (tool, folder.path, steps, releaseSteps)
    }

    /// Whether pipectl runs on a Mac.
    #if os(macOS)
        package static let isOnMac = true
    #else
        package static let isOnMac = false
    #endif
    static let checksum = isOnMac ? "shasum -a 256" : "sha256sum"
}

extension SeedRecipe.SeedStep {
    /// The only step of a project that may use the network.
    static func resolve(
        _ command: String, inputs: [String] = [], outputs: [String] = [],
        caches: [(name: String, path: String)] = []
    ) -> Self {
        Self(
            name: "resolve", command: command, isOnline: true, inputs: inputs, outputs: outputs, caches: caches,
            comment: "The only step that may use the network.")
    }

    static func tests(_ command: String, results: [String] = [], timeout: Int = 15) -> Self {
        Self(name: "unit tests", command: command, timeout: timeout, results: results)
    }

    /// A step that fails until a person replaces its command.
    static let placeholder = Self(
        name: "unit tests",
        command: "echo 'Nothing is tested yet: write your test command in workflows/test.swift' >&2; exit 1",
        comment: "Write your own command here, for example run: \"script/test\". Until then this step fails.")
}

/// The result of inspecting one folder for one tool.
enum SeedFinding {
    case recipe(SeedRecipe)
    case doubt(SeedRecipe.Doubt, buildOnly: SeedRecipe? = nil)

    var recipe: SeedRecipe? { if case .recipe(let recipe) = self { recipe } else { nil } }
}
