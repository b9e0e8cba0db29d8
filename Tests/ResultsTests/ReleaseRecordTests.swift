import Foundation
import Results
import Testing

/// Releases as they are stored, and their versions.
struct ReleaseRecordTests {
    @Test func `a release that was made before marketing versions were noted is read`() throws {
        let record = ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.0-rc1", buildNumber: 7, tag: "v1.0-rc1"),
            commit: "c", tree: "t", committedAt: Date(timeIntervalSince1970: 5), workflow: "release", run: 3,
            madeAt: Date(timeIntervalSince1970: 10), notes: "new", files: [])
        #expect(record.marketingVersion == "1.0")
        let whole = try JSONEncoder().encode(record)
        var values = try #require(try JSONSerialization.jsonObject(with: whole) as? [String: Any])
        values["marketingVersion"] = nil
        let old = try JSONDecoder().decode(
            ReleaseRecord.self, from: try JSONSerialization.data(withJSONObject: values))
        #expect(old.marketingVersion == nil && old.version == "1.0-rc1")
    }

    @Test(arguments: [
        ("1.2.0", "1.2.0"), ("1.2.0-rc.1", "1.2.0"), ("1.2rc1", "1.2"), ("1.0+7", "1.0"), ("2026-11-26", "2026"),
        ("1.2.3.4", "1.2.3.4"), ("1.", "1"), ("vim", "vim"),
    ])
    func `the marketing version is the numbers of a version`(version: String, marketing: String) {
        #expect(ReleaseVersion(version: version, buildNumber: 1, tag: "").marketing == marketing)
    }
}
