// What this project uses of Security's keychain, for script/darwin-check. Written from Apple's documentation; no body does
// anything. On Linux Swift bridges nothing to Core Foundation: Swift's own types stand for its types.
public typealias CFString = String
public typealias CFTypeRef = Any
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32
public var kSecClass: CFString { "" }
public var kSecClassGenericPassword: CFString { "" }
public var kSecAttrService: CFString { "" }
public var kSecAttrAccount: CFString { "" }
public var kSecAttrModificationDate: CFString { "" }
public var kSecReturnData: CFString { "" }
public var kSecReturnAttributes: CFString { "" }
public var kSecMatchLimit: CFString { "" }
public var kSecMatchLimitOne: CFString { "" }
public var kSecMatchLimitAll: CFString { "" }
public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { -25300 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }
