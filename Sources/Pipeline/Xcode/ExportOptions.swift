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

        /// The beginnings of the names of certificates; an export needs a certificate with one of them.
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
    /// Further keys with their values, as in `["testFlightInternalTestingOnly": true]`. They replace pipectl's own.
    public var more: [String: Value] = [:]

    /// Options for one method and team.
    public init(_ method: Method, team: String, profiles: [String: String] = [:]) {
        self.method = method
        self.team = team
        self.profiles = profiles
    }

    /// The property list.
    var plist: String {
        var values: [String: Value] = [
            "method": .string(method.rawValue), "teamID": .string(team), "destination": "export",
            "signingStyle": profiles.isEmpty ? "automatic" : "manual",
        ]
        if !profiles.isEmpty { values["provisioningProfiles"] = .dictionary(profiles.mapValues { .string($0) }) }
        if method == .appStoreConnect {
            // The build number is that of the release; Apple must not choose another one.
            values["manageAppVersionAndBuildNumber"] = false
            values["uploadSymbols"] = true
        }
        values.merge(more) { _, own in own }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            \(Value.dictionary(values).xml)
            </plist>

            """
    }

    /// A value of ``more``, as in `true`, `"text"` or `["appURL": "https://example.com/App.ipa"]`.
    public enum Value: Sendable, Equatable, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
        ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral
    {
        /// A text.
        case string(String)
        /// Yes or no.
        case bool(Bool)
        /// A number.
        case integer(Int)
        /// Values by their keys.
        case dictionary([String: Value])

        /// A text.
        public init(stringLiteral value: String) { self = .string(value) }
        /// Yes or no.
        public init(booleanLiteral value: Bool) { self = .bool(value) }
        /// A number.
        public init(integerLiteral value: Int) { self = .integer(value) }
        /// Values by their keys; of several with one key the last one.
        public init(dictionaryLiteral elements: (String, Value)...) {
            self = .dictionary(Dictionary(elements) { _, last in last })
        }

        fileprivate var xml: String {
            switch self {
            case .string(let text): "<string>\(text.inXML)</string>"
            case .bool(let value): value ? "<true/>" : "<false/>"
            case .integer(let number): "<integer>\(number)</integer>"
            case .dictionary(let values):
                "<dict>"
                    + values.sorted { $0.key < $1.key }.map { "<key>\($0.key.inXML)</key>\($0.value.xml)\n" }.joined()
                    + "</dict>"
            }
        }
    }
}

extension String {
    /// The text as content of an XML element.
    fileprivate var inXML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
