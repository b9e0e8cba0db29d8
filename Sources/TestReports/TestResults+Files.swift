public import Results

/// The results of one file that a source of a step names.
public struct ResultFileContent: Sendable {
    /// Relative to the workspace, or as given on a command line.
    public let path: String
    /// The tests and findings that were read.
    public let results: TestResults

    public init(path: String, results: TestResults) { (self.path, self.results) = (path, results) }
}

extension TestResults {
    /// Joins the results of the files of one source, such as the reports of two target frameworks.
    ///
    /// Tests of two files of the same format are different tests, so any failure counts. If they share an id, the
    /// file's path distinguishes them, otherwise a number. Files of different formats describe the same test run, and
    /// each completes the other.
    public static func joining(_ files: [ResultFileContent]) -> TestResults {
        var formats: [ResultFormat?] = []
        for file in files where !formats.contains(file.results.format) { formats.append(file.results.format) }
        let sets = formats.map { format in
            FilesOfOneFormat(files.filter { $0.results.format == format }).results
        }
        return sets.dropFirst().reduce(sets.first ?? TestResults()) { $0.merging($1) }
    }
}

/// Gives different names to tests of several files that share an id.
private struct FilesOfOneFormat {
    /// The most bytes of a file's path at the start of a name.
    private static let longestPart = 200

    private let files: [ResultFileContent]

    init(_ files: [ResultFileContent]) { self.files = files }

    var results: TestResults {
        guard files.count > 1 else { return files.first?.results ?? TestResults() }
        var joined = TestResults(format: files[0].results.format)
        let shared = sharedIDs
        let parts = self.parts
        var taken = Set(files.flatMap { $0.results.tests.map(\.id) }).subtracting(shared)
        for (file, part) in zip(files, parts) {
            var renamed: [String: (suite: String, name: String)] = [:]
            for var test in file.results.tests {
                if shared.contains(test.id) {
                    // The tries of one test in one file stay together.
                    let id = test.id
                    let new = renamed[id] ?? Self.name(test, part, &taken)
                    renamed[id] = new
                    (test.suite, test.name) = new
                }
                joined.tests.append(test)
            }
            for finding in file.results.findings where !joined.findings.contains(finding) {
                joined.findings.append(finding)
            }
        }
        return joined
    }

    /// The ids that tests of more than one file have.
    private var sharedIDs: Set<String> {
        var seen: Set<String> = []
        var shared: Set<String> = []
        for file in files {
            let ids = Set(file.results.tests.map(\.id))
            shared.formUnion(seen.intersection(ids))
            seen.formUnion(ids)
        }
        return shared
    }

    /// What distinguishes the files: the path without the folders that all share; nil if the path would give a test
    /// another name in each run, or a very long one.
    private var parts: [String?] {
        let paths = files.map { $0.path.split(separator: "/") }
        let folders = paths.map { $0.dropLast() }
        let common = folders.dropFirst().reduce(folders.first ?? []) { common, other in
            common.prefix(zip(common, other).prefix { $0 == $1 }.count)
        }
        let parts = paths.map { $0.dropFirst(common.count).joined(separator: "/") }
        let isStable = parts.allSatisfy { $0.utf8.count <= Self.longestPart && !Self.isOfOneRun($0) }
        return isStable ? parts : parts.map { _ in nil }
    }

    /// Whether a path contains what looks like a time, a process id or a random number.
    private static func isOfOneRun(_ path: String) -> Bool {
        path.contains(/[0-9]{5,}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-/)
    }

    private static func name(
        _ test: TestResult, _ part: String?, _ taken: inout Set<String>
    ) -> (suite: String, name: String) {
        let suite = part.map { test.suite.isEmpty ? $0 : $0 + "/" + test.suite } ?? test.suite
        var renamed = test
        renamed.suite = suite
        var number = 1
        while !taken.insert(renamed.id).inserted {
            number += 1
            renamed.name = test.name + " #\(number)"
        }
        return (renamed.suite, renamed.name)
    }
}
