public import ForgeConnection
import Foundation
import AsyncHTTPClient

/// Tries a connection before it is stored.
public enum ForgeConnector {
    /// Asks the forge for pipectl's account and its permissions.
    ///
    /// - Throws: ``ForgeError``, which says what to do next.
    public static func identity(at address: ForgeAddress, with credential: ForgeCredential) async throws
        -> ForgeIdentity
    {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let identity = try await ForgeSession(address, credential, http: http).service.identity()
            try await http.shutdown()
            return identity
        } catch {
            try? await http.shutdown()
            throw explained(error, address)
        }
    }

    private static func explained(_ error: any Error, _ address: ForgeAddress) -> any Error {
        guard var error = error as? ForgeError else { return error }
        let next =
            switch error.code {
            case .notFound: "check that \(address.project) exists and that the credential may see it"
            case .unauthorized: "the credential is wrong or has expired; make a new one"
            case .unreachable: "check the address \(address.api) and the network of this machine"
            default: ""
            }
        if !next.isEmpty { error.description += "; \(next)" }
        return error
    }
}
