import Foundation
import PageMarkup
import Pipeline
import Results
import TestBasics
import Testing

@testable import Delivery

/// How an ad hoc build is installed.
struct OverTheAirTests {
    private static func file(_ name: String) -> ReleaseFile {
        ReleaseFile(name: name, path: "/\(name)", bytes: 1, sha256: String(repeating: "a", count: 64))
    }

    private static func page(_ title: String = "Hello", _ files: [String] = ["Hello.ipa", "a.txt"]) throws
        -> OverTheAirPage
    {
        try OverTheAirPage(
            OverTheAir(app: "com.example.hello", title: title, address: "https://apps.example.org/hello/"),
            version: ReleaseVersion(version: "1.2+7", buildNumber: 7, tag: "v1.2+7"), files: files.map(file))
    }

    @Test func `the manifest names the app, its version and its address`() throws {
        let page = try Self.page("A & <B>")
        let list = try PropertyListSerialization.propertyList(from: page.manifest, format: nil)
        let item = try #require(((list as? [String: Any])?["items"] as? [[String: Any]])?.first)
        let asset = try #require((item["assets"] as? [[String: String]])?.first)
        #expect(
            asset == ["kind": "software-package", "url": "https://apps.example.org/hello/1.2%2B7/Hello.ipa"])
        #expect(
            item["metadata"] as? [String: String] == [
                "bundle-identifier": "com.example.hello", "bundle-version": "1.2", "kind": "software",
                "title": "A & <B>",
            ])
        #expect(page.manifestName == "Hello.plist")
        let wanted =
            "itms-services://?action=download-manifest&url=https%3A%2F%2Fapps.example.org%2Fhello%2F1.2%252B7%2FHello.plist"
        #expect(page.link == wanted)
        let text = String(decoding: page.page, as: UTF8.self)
        #expect(text.contains("<h1>A &amp; &lt;B&gt; 1.2+7</h1>"))
        #expect(text.contains("<svg"))
        #expect(!text.contains("<script"))
    }

    @Test(arguments: [["a.txt"], ["a.ipa", "b.ipa"]])
    func `a release without exactly one app is refused`(files: [String]) {
        #expect(throws: DeliveryProblem.self) { try Self.page("Hello", files) }
    }

    /// `zbarimg` reads the code as a camera would.
    @Test(
        .timeLimit(.minutes(1)), .enabled(if: succeeds(["zbarimg", "--version"]), "zbarimg is needed"),
        arguments: [1, 14, 62, 84, 106, 150, 180, 300, 500, 660])
    func `a QR code is read again`(length: Int) async throws {
        let text = String((0..<length).map { index in Character(UnicodeScalar(UInt8(0x21 + index * 7 % 0x5D))) })
        let code = try #require(QRCode(text))
        let folder = try TemporaryFolder()
        let side = (code.size + 8) * 4
        var image = Array("P5 \(side) \(side) 255\n".utf8)
        for row in 0..<side {
            for column in 0..<side {
                let (down, right) = (row / 4 - 4, column / 4 - 4)
                let isInside = (0..<code.size).contains(down) && (0..<code.size).contains(right)
                image.append(isInside && code.modules[down][right] ? 0 : 255)
            }
        }
        let path = try folder.write("code.pgm", image)
        #expect(try await runCommand("zbarimg", "--quiet", "--raw", "--oneshot", "-Sbinary", path) == text)
    }

    @Test func `a QR code has its patterns, and a text that is too long has none`() throws {
        let code = try #require(QRCode("https://example.org"))
        #expect(code.size == 25)
        #expect(code.modules.count == 25)
        // The corner of a finder, its light ring and its middle.
        #expect(code.modules[0][0..<8] == [true, true, true, true, true, true, true, false])
        #expect(code.modules[1][0..<7] == [true, false, false, false, false, false, true])
        #expect(code.modules[6][8..<17] == [true, false, true, false, true, false, true, false, true])
        #expect(QRCode(String(repeating: "a", count: 700)) == nil)
    }
}
