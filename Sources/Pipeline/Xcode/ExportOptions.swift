/// What `xcodebuild -exportArchive` makes of an archive: the content of its `ExportOptions.plist`.
///
/// `xcodebuild -help` explains the keys.
public struct ExportOptions: Sendable, Equatable {
    /// What the file is for.
    public enum Method: String, Sendable, CaseIterable {
        /// TestFlight and the App Store.
        case appStoreConnect = "app-store-connect"
        /// Devices that are registered with the team.
        case releaseTesting = "release-testing"
        /// The devices of a company.
        case enterprise
        /// A Mac app outside the App Store.
        case developerID = "developer-id"
        /// The team's own devices, with a development certificate.
        case debugging

        /// How the names of the certificates begin of which it needs one.
        var identities: [String] {
            switch self {
            case .appStoreConnect: ["Apple Distribution", "iPhone Distribution", "3rd Party Mac Developer Application"]
            case .releaseTesting, .enterprise: ["Apple Distribution", "iPhone Distribution"]
            case .developerID: ["Developer ID Application"]
            case .debugging: XcodeSigning.development
            }
        }
    }

    /// What the file is for.
    public var method: Method
    /// The team's id, of ten characters.
    public var team: String
    /// The names or ids of profiles by bundle identifier; empty: Xcode chooses them.
    public var profiles: [String: String]
    /// Further keys with their values.
    public var more: [String: String] = [:]

    /// Options for one method and team.
    public init(_ method: Method, team: String, profiles: [String: String] = [:]) {
        self.method = method
        self.team = team
        self.profiles = profiles
    }

    /// The property list.
    var plist: String {
        var lines: [String] = []
        func add(_ key: String, _ value: String) { lines.append("<key>\(key.inXML)</key>\(value)") }
        func text(_ text: String) -> String { "<string>\(text.inXML)</string>" }
        func list(_ values: [String: String]) -> String {
            let entries = values.sorted { $0.key < $1.key }.map { "<key>\($0.key.inXML)</key>\(text($0.value))" }
            return "<dict>\(entries.joined())</dict>"
        }
        add("method", text(method.rawValue))
        add("teamID", text(team))
        add("destination", text("export"))
        add("signingStyle", text(profiles.isEmpty ? "automatic" : "manual"))
        if !profiles.isEmpty { add("provisioningProfiles", list(profiles)) }
        if method == .appStoreConnect {
            // The build number is that of the release; Apple must not choose another one.
            add("manageAppVersionAndBuildNumber", "<false/>")
            add("uploadSymbols", "<true/>")
        }
        for (key, value) in more.sorted(by: { $0.key < $1.key }) { add(key, text(value)) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            \(lines.joined(separator: "\n"))
            </dict></plist>

            """
    }
}

extension String {
    /// The text as content of an XML element.
    fileprivate var inXML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
