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
        let containers = [container] + XcodeProjects.paths(of: container, in: folder)
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
        let seed = XcodeSeed(folder, container: container, scheme: scheme)
        let kind = container.hasSuffix(".xcworkspace") ? "-workspace" : "-project"
        let base = "xcodebuild \(kind) \(container.shellQuoted) -scheme \(scheme.shellQuoted) -derivedDataPath build"
        let place = seed.isForPhones ? "platform=iOS Simulator,name=iPhone 17" : "platform=macOS"
        let resolve = SeedRecipe.SeedStep.resolve("\(base) -resolvePackageDependencies")
        // xcodebuild refuses to overwrite a result bundle.
        var tests = SeedRecipe.SeedStep.tests(
            "rm -rf build/tests.xcresult && \(base) -destination '\(place)' -resultBundlePath build/tests.xcresult test",
            timeout: 30)
        tests.needs = ["resolve"]
        tests.comment = "`xcodebuild -showdestinations` lists what the tests can run on."
        tests.artifacts = ["build/tests.xcresult/**"]
        var recipe = SeedRecipe("Xcode", in: folder, steps: [resolve, tests], releaseSteps: [resolve, tests])
        recipe.programs = ["xcodebuild"]
        recipe.xcode = seed
        return recipe
    }
}
