import Concurrency
import Foundation
import Results
import Signing
import SystemPackage

/// Publishes a formula into a Homebrew tap: one commit on top of the tap's branch, pushed with a lease.
struct HomebrewPublisher: Publisher {
    /// The address of the tap's Git repository.
    let tap: String
    /// The release's file that is the formula.
    let formula: String
    /// A token for https.
    let token: [UInt8]?
    /// Where private files may be.
    let work: String
    var patience = Patience()

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        let wanted = Self.file(of: formula)
        guard let file = release.files.first(where: { $0.name == wanted }), wanted.hasSuffix(".rb"),
            wanted.wholeMatch(of: /[a-z0-9][a-z0-9@+._\-]*\.rb/) != nil
        else {
            throw DeliveryProblem(
                .invalid,
                "release \(release.version) has no formula \(PublishedName.shown(wanted)); add NAME.rb to its files")
        }
        guard
            tap.wholeMatch(of: /(?:https:\/\/|ssh:\/\/|file:\/\/|\/|[A-Za-z0-9_][A-Za-z0-9._\-]*@)[^\s\x00-\x1f]+/)
                != nil
        else {
            throw DeliveryProblem(
                .invalid,
                "\"\(PublishedName.shown(tap))\" is not the address of a tap; write https://HOST/OWNER/homebrew-NAME")
        }
        try await PrivateFolder.with(in: work) { folder in
            try await patience.run(say: say) {
                let attempt = TapAttempt(
                    tap: tap, path: "Formula/\(wanted)", file: file, release: release,
                    folder: folder.appending(UUID().uuidString), token: token, progress: progress)
                say(try await attempt.publish() ? "\(attempt.path) is pushed" : "\(attempt.path) was pushed before")
            }
        }
        let name = String(wanted.dropLast(3))
        return Publication(state: .released, address: tap, install: Self.install(name, tap))
    }

    /// The name of the file of a release that is the formula.
    static func file(of formula: String) -> String { formula.split(separator: "/").last.map(String.init) ?? formula }

    /// `brew install owner/tap/name`, after `brew tap owner/tap ADDRESS` where Homebrew does not find the tap by its name;
    /// nil for a tap of this machine.
    static func install(_ name: String, _ tap: String) -> String? {
        // What a shell would take for something else is not shown.
        guard tap.wholeMatch(of: /[A-Za-z0-9.@:_~\/\-]+/) != nil,
            let place = tap.prefixMatch(of: /(?:https|ssh):\/\/[^\/]+\/|[^\/@]+@[^\/:]+:/)
        else { return nil }
        let parts = tap[place.range.upperBound...].split(separator: "/")
        guard parts.count > 1, var tapName = parts.last.map(String.init) else { return nil }
        if tapName.hasSuffix(".git") { tapName.removeLast(4) }
        let isFound = tapName.hasPrefix("homebrew-") && place.0.contains(/[@\/]github\.com[:\/]/)
        tapName.trimPrefix("homebrew-")
        let short = "\(parts[parts.count - 2])/\(tapName)"
        return (isFound ? "" : "brew tap \(short) \(tap) && ") + "brew install \(short)/\(name)"
    }
}

/// One attempt, in a clone of its own, without a working tree: nothing of the tap is written to disk as a file.
struct TapAttempt: Sendable {
    let tap: String
    let path: String
    let file: ReleaseFile
    let release: ReleaseContent
    let folder: FilePath
    let token: [UInt8]?
    let progress: any PublishingProgress

    private var git: DeliveryTool {
        var environment = [
            "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:file", "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "/dev/null",
            "GIT_CONFIG_KEY_1": "http.followRedirects", "GIT_CONFIG_VALUE_1": "false",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=15",
        ]
        // Not an argument, which everybody on this machine can read.
        if let token, tap.hasPrefix("https://") {
            let text = String(decoding: token, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            environment["GIT_CONFIG_COUNT"] = "3"
            environment["GIT_CONFIG_KEY_2"] = "http.\(tap).extraHeader"
            environment["GIT_CONFIG_VALUE_2"] =
                "Authorization: Basic \(Data("x-access-token:\(text)".utf8).base64EncodedString())"
        }
        let date = "\(Int(release.committedAt.timeIntervalSince1970)) +0000"
        for who in ["AUTHOR", "COMMITTER"] {
            environment["GIT_\(who)_NAME"] = "pipectl"
            environment["GIT_\(who)_EMAIL"] = "pipectl@localhost"
            environment["GIT_\(who)_DATE"] = date
        }
        return DeliveryTool(name: "git", environment: environment, deadline: .seconds(300))
    }

    private func ask(_ arguments: [String], failing code: DeliveryProblem.Code = .machine) async throws -> String {
        try await git.output(["--git-dir", folder.string] + arguments, failing: code)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// - Returns: Whether something had to be pushed.
    func publish() async throws -> Bool {
        let cloned = try await git.run([
            "clone", "--quiet", "--bare", "--no-tags", "--single-branch", "--", tap, folder.string,
        ])
        guard cloned.code == 0 else { throw Self.problem(tap, cloned.text, "reading the tap") }
        let branch = try await ask(["symbolic-ref", "HEAD"])
        guard let parent = try? await ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) else {
            throw DeliveryProblem(
                .invalid, "the tap \(PublishedName.shown(tap)) has no commit; make its first one, such as a README")
        }
        let blob = try await ask(["hash-object", "-w", "--no-filters", "--", file.path])
        let there = try? await ask(["rev-parse", "--verify", "--quiet", "\(parent):\(path)"])
        if there == blob { return false }
        // A newer version has replaced it since.
        if try await !ask(["log", "-1", "--format=%H", "--find-object=\(blob)", parent, "--", path]).isEmpty {
            return false
        }
        if let there { try await compare(there) }
        _ = try await ask(["read-tree", parent])
        _ = try await ask(["update-index", "--add", "--cacheinfo", "100644,\(blob),\(path)"])
        let tree = try await ask(["write-tree"])
        let name = path.split(separator: "/").last?.dropLast(3) ?? ""
        let commit = try await ask(["commit-tree", tree, "-p", parent, "-m", "\(name) \(release.version)"])
        try await progress.confirm()
        let pushed = try await git.run([
            "--git-dir", folder.string, "push", "--porcelain", "--no-verify", "--force-with-lease=\(branch):\(parent)",
            "--",
            tap, "\(commit):\(branch)",
        ])
        guard pushed.code == 0 else { throw Self.problem(tap, pushed.text, "pushing to the tap") }
        return true
    }

    /// - Throws: ``DeliveryProblem`` with `.conflict` where the formula is of the same version or a newer one.
    private func compare(_ there: String) async throws {
        let text = try await ask(["cat-file", "blob", there])
        guard let version = Self.version(text, as: release.version) else { return }
        if let there = OrderedVersion(version), let new = OrderedVersion(release.version) {
            if there < new { return }
        } else if version.compare(release.version, options: .numeric) == .orderedAscending {
            return
        }
        if version == release.version {
            throw DeliveryProblem(
                .conflict,
                "\(path) of version \(release.version) is in the tap with other bytes; a version is never replaced, so release a new one"
            )
        }
        throw DeliveryProblem(
            .conflict,
            "the tap has \(PublishedName.shown(version)), which is not older than \(release.version); nothing goes back to an older version"
        )
    }

    /// The version of a formula: that of its `version` line, else the one in the address of its archive.
    static func version(_ formula: String, as wanted: String) -> String? {
        if let line = formula.firstMatch(of: /(?m)^\s*version\s+["']([0-9][A-Za-z0-9._+~\-]*)["']/) {
            return String(line.1)
        }
        guard let url = formula.firstMatch(of: /(?m)^\s*url\s+["']([^"']+)["']/) else { return nil }
        let numbers = url.1.matches(of: /[0-9]+(?:\.[0-9]+)+(?:-(?:alpha|beta|rc|pre|dev)(?:\.?[0-9]+)*)?/)
            .map { String($0.0) }
        return numbers.contains(wanted) ? wanted : numbers.last
    }

    /// What is to be done about an error.
    ///
    /// - Parameter text: All that git said; it has ids of commits, which may have any digits.
    static func problem(_ tap: String, _ text: String, _ what: String) -> DeliveryProblem {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let reasons = lines.filter { line in ["remote: ", "fatal: ", "error: "].contains(where: line.hasPrefix) }
        let said = reasons.first.map(PublishedName.shown) ?? DeliveryTool.lastLine(text)
        // A rule of the server. It also rejects a push that comes at the same moment as another, which is tried again.
        if lines.contains(where: { $0.contains("[remote rejected]") && $0.contains("hook declined") }) {
            return DeliveryProblem(.refused, "\(what) is not allowed: \(said); the tap's server has a rule against it")
        }
        // Somebody else has pushed first. git-push(1) says how --porcelain shows it.
        if lines.contains(where: { $0.hasPrefix("!") && $0.contains("[rejected]") }) {
            return DeliveryProblem(.unreachable, "\(what) failed: it has a new commit")
        }
        let refused = [
            "Authentication failed", "Permission denied", "could not read Username", "returned error: 403",
            "returned error: 401", "Host key verification",
        ]
        if refused.contains(where: text.contains) {
            return DeliveryProblem(
                .refused, "\(what) is not allowed: \(said); give credentials: a secret with a token that may push")
        }
        if ["does not appear to be a git repository", "not found", "does not exist"].contains(where: text.contains) {
            return DeliveryProblem(.invalid, "\(what) failed: \(said); check the address \(PublishedName.shown(tap))")
        }
        return DeliveryProblem(.unreachable, "\(what) failed: \(said)")
    }
}
