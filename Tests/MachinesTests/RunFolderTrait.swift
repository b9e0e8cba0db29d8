import TestSupport
import Testing

struct RunFolderTrait: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await RunFolder.provide(function)
    }
}

extension Trait where Self == RunFolderTrait {
    /// Hands the test a `RunFolder.current`.
    static var runFolder: RunFolderTrait { RunFolderTrait() }
}
