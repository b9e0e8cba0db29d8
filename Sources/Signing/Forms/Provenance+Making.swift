package import Foundation

extension Provenance.Builder {
    /// The build machine, and the versions of the programs that built.
    package init(_ id: String, versions: [String: String]) {
        self.init(id: id, version: versions)
    }
}

extension Provenance.Metadata {
    /// One run.
    package init(invocation: String, from start: Date, to end: Date) {
        self.init(invocationId: invocation, startedOn: start, finishedOn: end)
    }
}
