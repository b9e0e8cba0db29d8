import AsyncHTTPClient
import Delivery
import Pipeline

extension AppStoreClient {
    /// A client for the app's account.
    ///
    /// - Parameters:
    ///   - key: The text of the API key's `.p8` file.
    ///   - root: Where the API is; nil: at Apple.
    /// - Throws: `DeliveryProblem` with `.refused` if the key can't be read.
    init(_ options: TestFlight, key: String, http: HTTPClient, root: String?, pauses: AppStorePauses) throws {
        do {
            let tokens = try AppStoreTokens(key: key, keyID: options.keyID, issuer: options.issuer)
            self.init(root: root ?? Self.apple, tokens: tokens, http: http, pauses: pauses)
        } catch let error as AppStoreError {
            throw error.problem
        }
    }
}
