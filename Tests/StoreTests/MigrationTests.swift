import TestBasics
@testable import Store
@testable import Results
import Foundation
import GRDB
import TestSupport
import Testing

/// A store that an older version of pipectl wrote.
@Suite struct MigrationTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/index.sqlite"
    }

    @Test func `an older schema is migrated once`() async throws {
        let ids = try await old()
        for _ in 1...2 {
            let index = try Index(path: path)
            #expect(try await index.accept(Sample.request(head: 1)).isNew == false, "it is known under its new key")
            #expect(try await index.intents(of: ids.release).count == 1)
        }
        let index = try Index(path: path)
        let recovered = try await index.recoverInterrupted()
        guard case .ended(.infrastructure, let reason)? = recovered.first(where: { $0.id == ids.release })?.outcome
        else {
            Issue.record("an older pipectl recorded no intents: what the release did is not known")
            return
        }
        #expect(reason.contains("recorded by an older pipectl"))
        #expect(recovered.first { $0.id == ids.test }?.outcome == .queued(attempt: 2))
    }

    @Test func `a migration that fails leaves the old schema`() async throws {
        _ = try await old()
        let queue = try DatabaseQueue.patient(path)
        // A table with the name of the one that the migration creates.
        try await queue.write { db in try db.execute(sql: "CREATE TABLE intent (x INTEGER)") }
        try queue.close()
        #expect(throws: (any Error).self) { try Index(path: path) }
        let after = try DatabaseQueue.patient(path)
        let (applied, nonces) = try await after.read { db in
            (
                try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations"),
                try String.fetchSet(db, sql: "SELECT nonce FROM run")
            )
        }
        #expect(!applied.contains("3 intent"))
        #expect(nonces == [""], "nothing of it was done")
    }

    @Test func `releases of a schema with one for each commit are kept, with where they are`() async throws {
        let old = try Index(path: path)
        try await old.connectForge("app", address: "a", location: "/app")
        func release(_ version: String) -> ReleaseRecord {
            ReleaseRecord(
                repository: "app", version: ReleaseVersion(version: version, buildNumber: 7, tag: "v\(version)"),
                commit: "c1", tree: "t", committedAt: Date(timeIntervalSince1970: 5), workflow: "release", run: 3,
                madeAt: Date(timeIntervalSince1970: 10), notes: "new", files: [])
        }
        _ = try await old.addRelease(release("1.0"))
        let publication = PublicationRecord(
            step: "out", destination: "there", state: .released, updatedAt: Date(timeIntervalSince1970: 1))
        try await old.record(publication, of: "1.0", in: "app")
        try await old.write { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX version_commit ON version (repository, workflow, commitId);
                    DELETE FROM grdb_migrations WHERE identifier = 'versionsOfCommit';
                    """)
        }
        let index = try Index(path: path)
        #expect(try await index.release("1.0", of: "app")?.publications == [publication])
        #expect(try await index.addRelease(release("1.1"))?.version == "1.1")
    }

    /// A store of the first schema with a running test and a running release.
    private func old() async throws -> (test: RunID, release: RunID) {
        let index = try Index(path: path)
        let test = try await index.enqueue(Sample.request(head: 1)).run.id
        let release = try await index.enqueue(Sample.request(change: nil, head: 2, atMostOnce: true)).run.id
        for id in [test, release] { try await index.markRunning(id) }
        try await index.write { db in
            try db.execute(
                sql: """
                    DROP TABLE intent;
                    UPDATE run SET nonce = '';
                    DELETE FROM grdb_migrations WHERE identifier = '3 intent';
                    """)
        }
        return (test, release)
    }
}
