import Masking

#if os(macOS)
    import Foundation
    import Pipeline
    import Security

    /// The keychain: generic passwords of the service `pipectl`, each named by its account.
    ///
    ///     security add-generic-password -s pipectl -a DEPLOY_TOKEN -w
    struct SecretKeychain: Sendable {
        private static let service = "pipectl"

        /// The value; nil when there is none of that name.
        func value(of name: String) throws(SecretError) -> [UInt8]? {
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: Self.service, kSecAttrAccount: name,
                kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne,
            ]
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else { throw failure(status) }
            guard data.count <= SecretFolder.longestValue, !data.isEmpty else {
                throw SecretError(
                    .value,
                    "Secret \(name) in the keychain is empty or longer than \(SecretFolder.longestValue) bytes. Set it again."
                )
            }
            return Array(data)
        }

        /// The secrets in the keychain. Reads no values.
        func records() throws(SecretError) -> [SecretRecord] {
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: Self.service, kSecReturnAttributes: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess, let items = result as? [[CFString: Any]] else { throw failure(status) }
            return items.compactMap { item -> SecretRecord? in
                guard let name = item[kSecAttrAccount] as? String, SecretUse.problem(with: name) == nil else {
                    return nil
                }
                return SecretRecord(name: name, source: .keychain, setAt: item[kSecAttrModificationDate] as? Date)
            }.sorted { $0.name < $1.name }
        }

        private func failure(_ status: OSStatus) -> SecretError {
            let reason = SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)"
            return SecretError(
                .system, "The keychain can't be read: \(reason). Unlock it: security unlock-keychain")
        }
    }
#endif
