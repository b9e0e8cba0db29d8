import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// What a forge has stored under an address.
package struct ForgeContent: Sendable, Equatable {
    package var bytes: Int
    /// Lower-case hex.
    package var sha256: String
}

extension ForgeSession {
    /// Reads what is stored at `address` and keeps only its digest; nil if nothing is there, or it is not shown.
    ///
    /// A redirect, as to a store of objects, is followed once, without the credential.
    ///
    /// - Parameter most: Where more bytes come, the rest is not read: the content differs anyway.
    package func content(at address: String, most: Int) async throws -> ForgeContent? {
        var message = HTTPClientRequest(url: address)
        message.headers.add(name: "User-Agent", value: "pipectl")
        message.headers.add(name: "Accept", value: "application/octet-stream")
        let (name, value) = try await self.authorization()
        message.headers.add(name: name, value: value)
        var (status, place, content) = try await client.read(message, most: most)
        if (300..<400).contains(status), let found = place,
            let next = URL(string: found, relativeTo: URL(string: address)),
            next.scheme == "https" || next.scheme == URL(string: address)?.scheme
        {
            var message = HTTPClientRequest(url: next.absoluteString)
            message.headers.add(name: "User-Agent", value: "pipectl")
            (status, place, content) = try await client.read(message, most: most)
        }
        switch status {
        case 200: return content
        case 404, 410: return nil
        case 401, 403:
            throw ForgeError(.forbidden, "the credential may not read what is published: \(status)", status: status)
        default: throw ForgeError(.unavailable, "reading what is published failed: \(status)", status: status)
        }
    }
}

extension ForgeClient {
    fileprivate func read(_ message: HTTPClientRequest, most: Int) async throws -> (Int, String?, ForgeContent?) {
        do {
            let time = TimeAmount.seconds(60 + Int64(most >> 17))
            let response = try await http.execute(message, timeout: time)
            guard response.status == .ok else {
                return (Int(response.status.code), response.headers.first(name: "location"), nil)
            }
            var digest = SHA256()
            var count = 0
            for try await piece in response.body {
                count += piece.readableBytes
                if count > most { break }
                digest.update(data: Data(piece.readableBytesView))
            }
            let hex = digest.finalize().map { String(format: "%02x", $0) }.joined()
            return (200, nil, ForgeContent(bytes: count, sha256: hex))
        } catch {
            try Task.checkCancellation()
            throw ForgeError(.unreachable, "what is published can't be read: \(Self.words(error))")
        }
    }
}
