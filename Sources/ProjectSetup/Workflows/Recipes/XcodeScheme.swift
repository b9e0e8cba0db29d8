import Foundation

/// A scheme that is shared, so that a checkout has it.
struct XcodeScheme: Sendable, Equatable {
    var name: String
    var hasTests: Bool
    /// Whether it builds an app.
    var isForApp: Bool
    /// The id of the app's target in the project; nil if the scheme names none.
    var target: String?

    /// - Parameter text: The content of the `.xcscheme` file.
    init(_ name: String, text: String) {
        self.name = name
        hasTests = text.contains("<TestableReference") || text.contains("<TestPlanReference")
        let app = text.matches(of: /<BuildableReference\b([^>]*)>/).first { $0.1.contains(".app\"") }
        isForApp = app != nil
        target = app?.1.firstMatch(of: /BlueprintIdentifier\s*=\s*"([A-Za-z0-9]+)"/).map { String($0.1) }
    }

    /// The shared schemes of an `.xcodeproj` or `.xcworkspace` and the projects of that, by name for each of them.
    static func shared(by container: String, in folder: SeedFolder) -> [XcodeScheme] {
        let containers = [container] + XcodeProjects.paths(of: container, in: folder).filter { $0 != container }
        return containers.flatMap { container -> [XcodeScheme] in
            let schemes = "\(container)/xcshareddata/xcschemes"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder.location)/\(schemes)")) ?? []
            return files.filter { $0.hasSuffix(".xcscheme") }.sorted().compactMap { file in
                folder.text("\(schemes)/\(file)").map {
                    XcodeScheme(String(file.dropLast(".xcscheme".count)), text: $0)
                }
            }
        }
    }
}

/// Which of a project's schemes its workflows use.
struct XcodeSchemeChoice: Sendable, Equatable {
    /// The one that is archived.
    var app: XcodeScheme
    /// The one that is tested; nil if none has tests.
    var tested: XcodeScheme?
    /// The names of the others that build apps or have tests.
    var others: [String] = []

    /// Chooses apps before libraries, then what has tests, then what has the project's name, then the first.
    ///
    /// - Returns: Nil if there is no scheme.
    init?(among schemes: [XcodeScheme], project: String) {
        func first(_ condition: (XcodeScheme) -> Bool) -> XcodeScheme? {
            let found = schemes.filter(condition)
            return found.first { $0.name == project } ?? found.first
        }
        guard
            let app = first({ $0.isForApp && $0.hasTests }) ?? first(\.isForApp) ?? first(\.hasTests)
                ?? first({ _ in true })
        else { return nil }
        self.app = app
        tested = app.hasTests ? app : first(\.hasTests)
        for scheme in schemes where scheme.isForApp || scheme.hasTests {
            if scheme.name != app.name, scheme.name != tested?.name, !others.contains(scheme.name) {
                others.append(scheme.name)
            }
        }
    }
}
