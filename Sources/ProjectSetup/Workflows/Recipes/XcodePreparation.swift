import Foundation
import Git

/// Steps that make what an app's project refers to and the repository does not have, such as pods.
struct XcodePreparation: Sendable {
    struct Part: Sendable {
        var step: SeedRecipe.SeedStep
        /// Where it runs, relative to the top of the repository.
        var folder: String
        /// Its command in a release; nil: the same.
        var release: String?
        /// What must be installed.
        var program: String
    }

    /// What makes the app, if that is not Xcode alone.
    enum Framework: String, Sendable {
        case flutter = "Flutter"
        case reactNative = "React Native"
    }

    private(set) var parts: [Part] = []
    private(set) var framework: Framework?
    /// From the framework's own file, which then decides.
    private(set) var version: String?
    /// Tests of the framework's own, which a change runs, too.
    private(set) var tests: Part?
    /// What is used, but not set up; each is a sentence.
    private(set) var gaps: [String] = []

    /// - Parameter folder: The folder with the Xcode project.
    init(_ folder: SeedFolder) {
        let parent = folder.path.isEmpty ? nil : SeedFolder(top: folder.top, path: folder.parent)
        if let parent, let text = parent.text("pubspec.yaml"), text.contains("sdk: flutter") {
            framework = .flutter
            addFlutter(text, in: parent, system: SeedFolder.name(folder.path) == "macos" ? "macos" : "ios")
        } else if let parent, let node = NodeRecipe(folder: parent).reactNative {
            framework = .reactNative
            add("npm", node.install, in: parent, program: node.tool, "React Native is a package of npm.")
        }
        addPods(folder, parent)
        if folder.names.contains("Cartfile") {
            gaps.append(
                "Carthage is not set up: add a step with `carthage bootstrap --use-xcframeworks` before resolve")
        }
    }

    private mutating func add(
        _ name: String, _ command: String, release: String? = nil, in folder: SeedFolder, program: String,
        _ comment: String
    ) {
        var step = SeedRecipe.SeedStep(name: name, command: command, isOnline: true, comment: comment)
        step.needs = parts.last.map { [$0.step.name] } ?? []
        parts.append(Part(step: step, folder: folder.path, release: release, program: program))
    }

    private mutating func addFlutter(_ pubspec: String, in folder: SeedFolder, system: String) {
        let build = "flutter build \(system) --config-only"
        let signing = system == "ios" ? " --no-codesign" : ""
        // Flutter's Info.plist takes the version from what this writes.
        add(
            "flutter", "\(build) --debug\(signing)",
            release: "\(build) --release\(signing) --build-name \"$PIPECTL_MARKETING_VERSION\" "
                + "--build-number \"$PIPECTL_BUILD_NUMBER\"", in: folder, program: "flutter",
            "Writes the settings that the Xcode project reads.")
        version = pubspec.firstMatch(of: /(?m:^)version:\s*["']?([0-9]+(?:\.[0-9]+){0,2})/).map { String($0.1) }
        let tests = SeedFolder(top: folder.top, path: folder.path.isEmpty ? "test" : "\(folder.path)/test")
        guard tests.contains(where: { $0.hasSuffix("_test.dart") }) else { return }
        var step = SeedRecipe.SeedStep.tests("flutter test --no-pub")
        step.name = "Dart tests"
        step.needs = ["flutter"]
        self.tests = Part(step: step, folder: folder.path, program: "flutter")
    }

    private mutating func addPods(_ folder: SeedFolder, _ parent: SeedFolder?) {
        guard folder.names.contains("Podfile"), !folder.isTracked("Pods/Manifest.lock"),
            !folder.isTracked("Pods/Pods.xcodeproj/project.pbxproj")
        else { return }
        let isBundled = [folder, parent].contains { $0?.text("Gemfile")?.contains("cocoapods") ?? false }
        // CocoaPods refuses to run where the language is not one of UTF-8.
        let language = "LANG=en_US.UTF-8"
        add(
            "pods",
            isBundled
                ? "export \(language) BUNDLE_PATH=vendor/bundle && bundle install && bundle exec pod install"
                : "\(language) pod install", in: folder, program: isBundled ? "bundle" : "pod",
            "Pods/ is not in the repository.")
    }
}

extension SeedFolder {
    /// The path of the folder around it, relative to the top.
    fileprivate var parent: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    /// Whether Git's index has a file of this folder.
    fileprivate func isTracked(_ name: String) -> Bool {
        guard let index = SeedProject(directory: top).indexFile else { return false }
        return (try? GitIndexFile.tracks(path.isEmpty ? name : "\(path)/\(name)", in: index)) == true
    }
}
