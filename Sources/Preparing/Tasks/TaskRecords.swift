import Concurrency
import Foundation
package import Results
package import Store

/// What the runs of a task's agents need to know of it.
package struct TaskRecords: Sendable {
    package var record: @Sendable (TaskID) async throws -> TaskRecord?
    /// Oldest first.
    package var events: @Sendable (TaskID) async throws -> [TaskEvent]
    /// What is known beside the text, in Markdown.
    package var context: @Sendable (TaskID) async throws -> String?
    /// The bytes of a file that was handed over; nil if it is gone.
    package var content: @Sendable (ReleaseRecord.File) async -> [UInt8]?

    package init(
        record: @escaping @Sendable (TaskID) async throws -> TaskRecord?,
        events: @escaping @Sendable (TaskID) async throws -> [TaskEvent],
        context: @escaping @Sendable (TaskID) async throws -> String? = { _ in nil },
        content: @escaping @Sendable (ReleaseRecord.File) async -> [UInt8]? = { _ in nil }
    ) {
        self.record = record
        self.events = events
        self.context = context
        self.content = content
    }

    /// - Parameter files: The folder with the files of tasks, each named by its digest.
    package init(_ index: Store.Index, files: String) {
        self.init(
            record: { try await index.task($0) }, events: { try await index.taskEvents(of: $0) },
            context: { try await index.taskContext($0) },
            content: { file in
                guard file.sha256.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }) else {
                    return nil
                }
                return try? await offThread { try [UInt8](Data(contentsOf: URL(filePath: "\(files)/\(file.sha256)"))) }
            })
    }

    /// No tasks are known.
    package static let none = TaskRecords(record: { _ in nil }, events: { _ in [] })
}
