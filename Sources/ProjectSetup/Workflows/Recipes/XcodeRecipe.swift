import Foundation
import Pipeline

/// An Xcode project or workspace, built with one of its shared schemes.
struct XcodeRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        guard
            let container = [".xcworkspace", ".xcodeproj"].lazy
                .compactMap({ suffix in folder.names.filter { $0.hasSuffix(suffix) }.min() }).first
        else { return nil }
        guard let scheme = scheme(of: container) else {
            return .doubt(
                SeedRecipe.Doubt(
                    file: container,
                    reason: "no shared scheme has tests; share one in Xcode (Product, Scheme, Manage Schemes, Shared)"))
        }
        return .recipe(recipe(container, scheme: scheme))
    }

    /// The shared scheme to test: the one with the project's name, otherwise the first by name.
    private func scheme(of container: String) -> String? {
        let containers = [container] + folder.names.filter { $0.hasSuffix(".xcodeproj") }.sorted()
        let found = containers.flatMap { container -> [String] in
            let schemes = "\(container)/xcshareddata/xcschemes"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder.location)/\(schemes)")) ?? []
            return files.filter { $0.hasSuffix(".xcscheme") }.sorted().compactMap { file in
                guard let text = folder.text("\(schemes)/\(file)"),
                    text.contains("<TestableReference") || text.contains("<TestPlanReference")
                else { return nil }
                return String(file.dropLast(".xcscheme".count))
            }
        }
        let name = container.split(separator: ".").dropLast().joined(separator: ".")
        return found.first { $0 == name } ?? found.first
    }

    private func recipe(_ container: String, scheme: String) -> SeedRecipe {
        let kind = container.hasSuffix(".xcworkspace") ? "-workspace" : "-project"
        let base = "xcodebuild \(kind) \(container.shellQuoted) -scheme \(scheme.shellQuoted) -derivedDataPath build"
        let destination = "-destination '\(destination)'"
        let resolve = SeedRecipe.SeedStep.resolve("\(base) -resolvePackageDependencies")
        let build = SeedRecipe.SeedStep(
            name: "build", command: "\(base) \(destination) build-for-testing", needs: ["resolve"],
            comment: "`xcodebuild -showdestinations` lists what the tests can run on.")
        // xcodebuild refuses to overwrite a result bundle.
        var tests = SeedRecipe.SeedStep.tests(
            "rm -rf build/tests.xcresult && \(base) \(destination) -resultBundlePath build/tests.xcresult "
                + "test-without-building", timeout: 30)
        tests.needs = ["build"]
        tests.artifacts = ["build/tests.xcresult/**"]
        let release = SeedRecipe.SeedStep(
            name: "release build", command: "\(base) -configuration Release \(destination) build",
            needs: ["unit tests"])
        var recipe = SeedRecipe(
            "Xcode", in: folder, steps: [resolve, build, tests], releaseSteps: [resolve, build, tests, release])
        recipe.programs = ["xcodebuild"]
        return recipe
    }

    private var destination: String {
        let projects = folder.names.filter { $0.hasSuffix(".xcodeproj") }.sorted()
        let isForPhones = projects.contains {
            folder.text("\($0)/project.pbxproj")?.contains("SDKROOT = iphoneos") ?? false
        }
        return isForPhones ? "platform=iOS Simulator,name=iPhone 17" : "platform=macOS"
    }
}
