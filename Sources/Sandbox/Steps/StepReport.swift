#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// `struct report` of stepinit.
struct StepReport {
    enum Kind: UInt32 { case ended = 1, noCommand, noFolder, noProcess, lost, noSecret, noGroup }

    var kind: Kind
    var value: Int32
    var wasAsked: Bool
    var wasKilled: Bool
    /// Whether the supervisor waits for another attempt.
    var isServedAgain: Bool

    /// Nil when both stepinit and the supervisor are gone.
    init?(readFrom socket: Int32) {
        var bytes = [UInt8](repeating: 0, count: 12)
        var count = -1
        repeat { count = recv(socket, &bytes, 12, Int32(MSG_WAITALL)) } while count < 0 && errno == EINTR
        guard count == 12 else { return nil }
        let numbers = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
        guard let kind = Kind(rawValue: numbers[0]) else { return nil }
        self.kind = kind
        value = Int32(bitPattern: numbers[1])
        wasAsked = numbers[2] & 1 != 0
        wasKilled = numbers[2] & 2 != 0
        isServedAgain = numbers[2] & 4 != 0
    }
}
