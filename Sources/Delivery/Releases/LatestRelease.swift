package import Results
import Signing

/// Which of a repository's releases is the latest one. The list is newest first.
extension [ReleaseRecord] {
    /// What commands take for `latest`: the highest version that was not withdrawn.
    package var latest: ReleaseRecord? { filter { $0.state != .yanked }.highest }

    /// The highest version that is for everybody: published, not withdrawn, and no candidate.
    package var latestPublished: ReleaseRecord? {
        filter { $0.isPublished && OrderedVersion($0.version)?.isCandidate != true }.highest
    }

    /// Where the newest version has no order, it is that one.
    private var highest: ReleaseRecord? {
        guard var found = first, var highest = OrderedVersion(found.version) else { return first }
        for release in dropFirst() {
            guard let version = OrderedVersion(release.version), highest < version else { continue }
            (found, highest) = (release, version)
        }
        return found
    }
}

extension ReleaseRecord {
    /// Also of a workflow without a step that publishes: there it is sealed at once.
    fileprivate var isPublished: Bool { state == .published || state == .sealed && publications.isEmpty }
}
