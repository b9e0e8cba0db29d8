import Foundation
import PageMarkup
import Pipeline
import Reports
import Results

/// What installs an ad hoc build on a device without a store: the manifest that iOS reads, and a page with the link to it.
///
/// Source: https://support.apple.com/guide/deployment/distribute-proprietary-in-house-apps-depce7cefc4d
struct OverTheAirPage: Sendable {
    static let pageName = "install.html"

    let plan: OverTheAir
    let version: ReleaseVersion
    /// The `.ipa`.
    let app: ReleaseFile

    /// - Throws: ``DeliveryProblem`` with `.invalid` where the release does not have one `.ipa`.
    init(_ plan: OverTheAir, version: ReleaseVersion, files: [ReleaseFile]) throws {
        let apps = files.filter { $0.name.hasSuffix(".ipa") }
        guard let app = apps.first, apps.count == 1 else {
            throw DeliveryProblem(
                .invalid, "a release that is installed over the air has one .ipa file, and this has \(apps.count)")
        }
        (self.plan, self.version, self.app) = (plan, version, app)
    }

    /// The name of the manifest.
    var manifestName: String { app.name.dropLast(4) + ".plist" }

    /// The address of a file of this version.
    private func address(_ name: String) -> String {
        let root = plan.address.hasSuffix("/") ? String(plan.address.dropLast()) : plan.address
        return [root, Self.encoded(version.version), Self.encoded(name)].joined(separator: "/")
    }

    /// The link that a device opens.
    var link: String { "itms-services://?action=download-manifest&url=\(Self.encoded(address(manifestName)))" }

    var manifest: Data {
        let metadata = [
            ("bundle-identifier", plan.app), ("bundle-version", version.marketing), ("kind", "software"),
            ("title", plan.title),
        ].map { "<key>\($0)</key><string>\(Self.escaped($1))</string>" }.joined()
        let asset =
            "<key>kind</key><string>software-package</string><key>url</key><string>\(Self.escaped(address(app.name)))</string>"
        return Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>items</key><array><dict>
            <key>assets</key><array><dict>\(asset)</dict></array>
            <key>metadata</key><dict>\(metadata)</dict>
            </dict></array></dict></plist>

            """.utf8)
    }

    /// Without scripts, and without anything from elsewhere.
    var page: Data {
        let title = Self.escaped("\(plan.title) \(version.version)")
        let code = QRCode(link)?.svg.text ?? ""
        return Data(
            """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
            <meta name="viewport" content="width=device-width">
            <style>body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem}
            svg{width:16rem;max-width:100%}code{overflow-wrap:anywhere}</style></head>
            <body><h1>\(title)</h1>
            <p><a href="\(Self.escaped(link))">Install on this iPhone or iPad</a></p>
            <p>On another device, point its camera here:</p>
            <p>\(code)</p>
            <p>It installs only on devices that the app's provisioning profile names.</p>
            <p>SHA-256 of \(Self.escaped(app.name)): <code>\(app.sha256)</code></p>
            </body></html>

            """.utf8)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-._~".utf8.contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : String(format: "%%%02X", byte)
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
