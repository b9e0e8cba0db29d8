import Control
import Foundation
import Results

import Testing

@testable import Client
@testable import Signing

/// What `pipectl release show` prints.
@Suite struct ReleaseTextTests {
    @Test(arguments: [("- one\n  - two\n", "\n\n- one\n  - two\n"), ("one\n\ntwo", "\n\none\n\ntwo\n")])
    func `the lines of notes begin where they began`(notes: String, end: String) {
        let release = ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"), commit: "c",
            tree: "", committedAt: Date(timeIntervalSince1970: 1), workflow: "release", run: 3,
            madeAt: Date(timeIntervalSince1970: 1), notes: notes, files: [])
        #expect(ReleaseText.text(ReleaseDetail(release: release, folder: "/f")).hasSuffix(end))
    }

    @Test(arguments: [ReleaseRecord.State.published, .yanked])
    func `what was withdrawn has no line that installs it`(state: ReleaseRecord.State) {
        var release = ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"), commit: "c",
            tree: "", committedAt: Date(timeIntervalSince1970: 1), workflow: "release", run: 3,
            madeAt: Date(timeIntervalSince1970: 1), state: state, notes: "", files: [])
        release.reason = state == .yanked ? "it loses data (ada)" : nil
        release.publications = [
            PublicationRecord(
                step: "apt", destination: "in apt", state: .released, install: "apt install app",
                updatedAt: Date(timeIntervalSince1970: 1))
        ]
        let text = ReleaseText.text(ReleaseDetail(release: release, folder: "/f"))
        #expect(text.contains("apt install app") == (state == .published))
        #expect(ReleaseText.warning(release)?.contains("it loses data (ada)") == (state == .yanked ? true : nil))
    }

    @Test(arguments: [false, true])
    func `a draft says what it waits for, or who rejected it`(isRejected: Bool) {
        var release = ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"), commit: "c",
            tree: "", committedAt: Date(timeIntervalSince1970: 1), workflow: "release", run: 3,
            madeAt: Date(timeIntervalSince1970: 1), notes: "", files: [])
        release.gate = ReleaseGate(run: 12, step: "gate", isRejected: isRejected, inWords: "it is \u{1B}[2Jat its gate")
        let text = ReleaseText.text(ReleaseDetail(release: release, folder: "/f"))
        #expect(text.contains("at its gate") && !text.contains("\u{1B}"))
        #expect(release.standing.contains("rejected") == isRejected)
        #expect(ReleaseText.table([release]).contains(release.standing))
    }

    @Test func `an accepted file names only what was there`() {
        let checks = [
            ReleaseCheck(name: .listed, state: .passed, sentence: "It is listed."),
            ReleaseCheck(name: .minisign, state: .absent, sentence: "There is no a.minisig."),
            ReleaseCheck(name: .cosign, state: .absent, code: "unknown-key", sentence: "Another key."),
        ]
        var verdict = FileVerdict(file: "a", accepted: true, signedBy: [], checks: checks)
        #expect(VerdictText.lines(of: verdict).split(separator: "\n").count == 3)
        verdict.accepted = false
        #expect(VerdictText.lines(of: verdict).split(separator: "\n").count == 4)
    }

    @Test func `a publication is shown with what is in its way`() {
        var release = ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"),
            commit: String(repeating: "c", count: 40), tree: "", committedAt: Date(timeIntervalSince1970: 1),
            workflow: "release", run: 3, madeAt: Date(timeIntervalSince1970: 1), state: .published, notes: "", files: []
        )
        release.publications = [
            PublicationRecord(
                step: "store", destination: "TestFlight", state: .refused, reason: "it was \u{1B}[2Jrejected",
                updatedAt: Date(timeIntervalSince1970: 1))
        ]
        let lines = ReleaseText.text(ReleaseDetail(release: release, folder: "/f")).split(separator: "\n")
        let place = lines.firstIndex { $0.hasPrefix("store: refused") }
        #expect(place.map { lines[$0 + 1].hasSuffix("rejected") && !lines[$0 + 1].contains("\u{1B}") } == true)
    }
}
