import AsyncHTTPClient
import Delivery
import Foundation
import NIOCore
import NIOHTTP1
import SystemPackage

/// Uploads the parts of a file as Apple's upload operations say, a few at a time.
struct PartUploader: Sendable {
    /// How many parts are on their way at the same time.
    static let most = 4
    /// The slowest connection that is waited for, in bytes per second.
    private static let slowest = 20_000

    let client: AppStoreClient
    /// The file at Apple, to which the notes belong.
    let id: String
    let progress: any PublishingProgress

    /// Uploads what earlier calls have not.
    func upload(_ file: ReleaseFile, _ operations: [UploadOperation]) async throws {
        guard Self.cover(operations, file.bytes) else {
            throw AppStoreError(.badAnswer, "the upload operations do not cover the file's \(file.bytes) bytes")
        }
        guard operations.allSatisfy({ isAllowed($0.url) }) else {
            throw AppStoreError(.badAnswer, "an upload operation has an address that is not https")
        }
        var done = try await noted()
        let open = operations.filter { !done.contains($0.offset) }
        let descriptor: SystemPackage.FileDescriptor
        do {
            descriptor = try SystemPackage.FileDescriptor.open(FilePath(file.path), .readOnly, options: .closeOnExec)
        } catch {
            throw AppStoreError(.machine, "\(file.name) can't be read: \(error)")
        }
        defer { try? descriptor.close() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            var rest = open.makeIterator()
            func start() {
                guard let operation = rest.next() else { return }
                group.addTask {
                    try await send(operation, of: descriptor)
                    return operation.offset
                }
            }
            for _ in 0..<Self.most { start() }
            while let offset = try await group.next() {
                done.insert(offset)
                try await note(done)
                start()
            }
        }
    }

    /// Whether each byte of the file is in exactly one part.
    private static func cover(_ operations: [UploadOperation], _ bytes: Int) -> Bool {
        var end = 0
        for operation in operations.sorted(by: { $0.offset < $1.offset }) {
            guard operation.offset == end, operation.length > 0, operation.length <= bytes - end else { return false }
            end += operation.length
        }
        return end == bytes
    }

    /// Only a stand-in on this machine, which is reached without TLS, may send files there without it.
    private func isAllowed(_ url: String) -> Bool {
        url.hasPrefix("https://") || !client.root.hasPrefix("https://") && url.hasPrefix(client.root + "/")
    }

    private func send(_ operation: UploadOperation, of file: SystemPackage.FileDescriptor) async throws {
        var failures = 0
        while true {
            do {
                return try await attempt(operation, of: file)
            } catch let error as AppStoreError where error.mayPass {
                failures += 1
                guard failures < client.pauses.attempts else { throw error }
                try await client.pauses.sleep(client.pauses.after(failures, error))
            }
        }
    }

    private func attempt(_ operation: UploadOperation, of file: SystemPackage.FileDescriptor) async throws {
        var message = HTTPClientRequest(url: operation.url)
        message.method = HTTPMethod(rawValue: operation.method)
        for header in operation.requestHeaders ?? [] {
            message.headers.replaceOrAdd(name: header.name, value: header.value)
        }
        message.body = .stream(
            FileSlice(file: file, offset: operation.offset, length: operation.length),
            length: .known(Int64(operation.length)))
        let deadline = TimeAmount.seconds(Int64(60 + operation.length / Self.slowest))
        let (response, _) = try await client.execute(message, deadline: deadline)
        let status = Int(response.status.code)
        switch status {
        case 200..<300: return
        case 408, 429, 500...:
            let pause = response.headers.first(name: "Retry-After").flatMap(Double.init)
            throw AppStoreError(.unavailable, "a part of the file was answered with \(status)", pause: pause)
        default:
            throw AppStoreError(.refused, "a part of the file was answered with \(status)")
        }
    }

    // MARK: Notes

    /// The offsets of the parts that are there. Apple does not say which are.
    private func noted() async throws -> Set<Int> {
        guard let text = try await progress.value(UploadNotes.parts) else { return [] }
        let pair = text.split(separator: ":", maxSplits: 1)
        guard pair.count == 2, pair[0] == id else { return [] }
        return Set(pair[1].split(separator: ",").compactMap { Int($0) })
    }

    private func note(_ done: Set<Int>) async throws {
        let offsets = done.sorted().map(String.init).joined(separator: ",")
        try await progress.set(UploadNotes.parts, to: "\(id):\(offsets)")
    }
}

/// The keys of the durable notes of an upload.
enum UploadNotes {
    /// The id of the build upload that this publication has begun.
    static let upload = "upload"
    /// The id of its file, a colon, and the offsets of the parts that are there.
    static let parts = "parts"
}
