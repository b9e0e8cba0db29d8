import TestBasics
import Foundation
import StateFiles
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct StaleTemporaryFilesTests {
    @Test func `old temporary files of our repositories are removed, and nothing else`() async throws {
        try await withTemporaryFolder { folder in
            let state = try StateFolder(environment: ["PIPECTL_HOME": folder])
            let start = Date()
            func make(_ path: String, at date: Date) throws {
                let parent = (path as NSString).deletingLastPathComponent
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
                try Data("a".utf8).write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
            let old = start.addingTimeInterval(-60)
            let locks = ["\(state.archive)/refs/runs/1.lock", "\(state.mirrors)/app.git/packed-refs.lock"]
            let pack = "\(state.mirrors)/app.git/objects/pack/pack_git2_1"
            for path in locks + [pack] { try make(path, at: old) }
            let young = "\(state.archive)/HEAD.lock"
            try make(young, at: start.addingTimeInterval(60))
            let others = ["\(state.archive)/refs/runs/1", "\(state.workspaces)/1/index.lock"]
            for path in others { try make(path, at: old) }

            #expect(Set(StaleTemporaryFiles.remove(from: state, olderThan: start)) == Set(locks))
            let exists = FileManager.default.fileExists(atPath:)
            #expect((locks + [pack]).allSatisfy { !exists($0) })
            #expect(([young] + others).allSatisfy(exists))
        }
    }

    @Test func `stepinit that is missing is an error with a code`() async throws {
        try await withTemporaryFolder { folder in
            let error = #expect(throws: StateError.self) { try Installation.stepInit(beside: "\(folder)/pipectl") }
            #expect(error?.code == .missingProgram)
            try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/stepinit"))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(folder)/stepinit")
            #expect(try Installation.stepInit(beside: "\(folder)/pipectl").hasSuffix("/stepinit"))
        }
    }
}
