/// The settings of an app's target, as its `project.pbxproj` says them.
struct XcodeTarget {
    /// The texts of all projects.
    private let text: String
    /// The settings of the app's target; empty if they are not found.
    private let own: String
    /// Nil if it is not a plain text there.
    let bundle: String?

    /// - Parameter id: That of the app's target; nil if it is not known.
    init(_ text: String, id: String?) {
        self.text = text
        let exact = id.flatMap { Self.releaseSettings(of: $0, in: text) }
        // The app's identifier is the shortest: those of tests and extensions begin with it.
        let bundle =
            if let exact { Self.bundles(exact).first } else {
                Self.bundles(text).min { ($0.count, $0) < ($1.count, $1) }
            }
        self.bundle = bundle
        own =
            exact
            ?? Self.groups(text).filter { Self.bundles($0).first.map { $0 == bundle } ?? false }
            .joined(separator: "\n")
    }

    private static func bundles(_ settings: String) -> [String] {
        settings.matches(of: /PRODUCT_BUNDLE_IDENTIFIER = "?([A-Za-z0-9.-]+)"?;/).map { String($0.1) }
    }

    /// Each `buildSettings`.
    private static func groups(_ text: String) -> [String] {
        text.matches(of: /buildSettings = \{(?s:.*?)\n\s*\};/).map { String($0.0) }
    }

    /// The settings of a target's configuration for release, which is the last if none is called so.
    private static func releaseSettings(of id: String, in text: String) -> String? {
        func object(_ id: Substring) -> Substring? {
            guard let start = text.firstRange(of: "\n\t\t\(id) "),
                let end = text[start.upperBound...].firstRange(of: "\n\t\t};")
            else { return nil }
            return text[start.upperBound..<end.lowerBound]
        }
        guard let target = object(id[...]),
            let list = target.firstMatch(of: /buildConfigurationList = ([A-Za-z0-9]+)/).flatMap({ object($0.1) }),
            let ids = list.firstMatch(of: /buildConfigurations = \(([^)]*)\)/)
        else { return nil }
        let configurations = ids.1.matches(of: #/([A-Za-z0-9]+) \/\*/#).compactMap { object($0.1) }
        return (configurations.first { $0.contains("name = Release;") } ?? configurations.last).map(String.init)
    }

    /// The team's id; nil if it is not a plain text.
    var team: String? {
        [own, text].lazy.compactMap { $0.firstMatch(of: /DEVELOPMENT_TEAM = "?([A-Z0-9]{10})"?;/) }.first
            .map { String($0.1) }
    }

    /// The version that people see, of one to three numbers; nil if it is not a plain text.
    ///
    /// A target has that of the project if it says none itself. Tests have versions of their own, which don't count.
    var version: String? {
        func versions(_ settings: String) -> [Substring] {
            settings.matches(of: /MARKETING_VERSION = "?([^";]*)"?;/).map(\.1)
        }
        let targets = Self.groups(text).filter { !Self.bundles($0).isEmpty }
        let project = targets.reduce(text) { $0.replacing($1, with: "") }
        // Xcode writes the configuration for release last.
        guard let version = versions(own).last ?? versions(project).last,
            version.wholeMatch(of: /[0-9]+(\.[0-9]+){0,2}/) != nil
        else { return nil }
        return String(version)
    }

    /// Whether the app is for iPhones, by the settings of its target, else by those of the project.
    var isForPhones: Bool {
        isSupported(own) ?? isBuiltWithSDK(own) ?? isBuiltWithSDK(text) ?? isSupported(text) ?? false
    }

    /// Apps for several systems have the SDK "auto", and list the systems.
    private func isSupported(_ settings: String) -> Bool? {
        let platforms = settings.matches(of: /SUPPORTED_PLATFORMS = "?([^";]*)"?;/)
        return platforms.isEmpty ? nil : platforms.contains { $0.1.split(separator: " ").contains("iphoneos") }
    }

    private func isBuiltWithSDK(_ settings: String) -> Bool? {
        if settings.contains("SDKROOT = iphoneos") { return true }
        return settings.contains("SDKROOT = macosx") ? false : nil
    }
}
