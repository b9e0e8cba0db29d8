import Crypto
import ForeignText

extension CrashReport {
    /// What equal crashes have in common: the kind of reason and the innermost functions of the program, as 32
    /// lower-case hexadecimal digits.
    ///
    /// Addresses, lines, files, versions and the machine do not count, and neither does how deep a recursion was. Where no
    /// function of the program is known, the place in the image counts, so that only crashes of one build are equal.
    public var signature: String {
        let text = (["1", reasonKind] + signatureNames).joined(separator: "\n")
        return SHA256.hash(data: Array(text.utf8)).prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The innermost call of the program that has a name or a place, else its innermost.
    public var top: Frame? {
        frames.first { $0.isOwn && ($0.function != nil || $0.file != nil) } ?? frames.first(where: \.isOwn)
    }

    /// One line for people: `EXC_BAD_ACCESS in Cart.total()`.
    public var title: String {
        let kind = reason.prefix { $0 != "(" }.description.trimmed
        guard let frame = top ?? frames.first(where: { $0.function != nil }) else {
            return kind
        }
        if let function = frame.function { return "\(kind) in \(function.prefix(bytes: 120))" }
        if let file = frame.file {
            return "\(kind) at \(file.fileName.prefix(bytes: 120))\(frame.line.map { ":\($0)" } ?? "")"
        }
        return frame.image.map { "\(kind) in \($0)" } ?? kind
    }

    /// The names that make the signature.
    var signatureNames: [String] {
        let own = frames.filter(\.isOwn)
        var names: [String] = []
        for frame in own {
            guard let function = frame.function else { continue }
            let name = FunctionName.stable(function, image: frame.image)
            guard !name.isEmpty, !Self.dull.contains(name), !name.hasSuffix(".$main"), !names.contains(name) else {
                continue
            }
            names.append(name)
            if names.count == 3 { return names }
        }
        if !names.isEmpty { return names }
        if let main = own.first(where: { $0.function != nil })?.function { return [main] }
        if let place = own.first(where: { $0.file != nil }), let file = place.file { return [file.fileName] }
        let places = own.prefix(3).compactMap { frame in
            frame.offset.map { "\(frame.image ?? "")+\(String($0, radix: 16))" }
        }
        guard places.isEmpty else { return [images.first { $0.name == own.first?.image }?.identifier ?? ""] + places }
        return Array(frames.compactMap(\.function).prefix(3))
    }

    /// The same trap has another name on each processor and system.
    var reasonKind: String {
        let kinds: [(String, [String])] = [
            (
                "trap",
                [
                    "SIGTRAP", "SIGILL", "EXC_BREAKPOINT", "EXC_BAD_INSTRUCTION", "Illegal instruction", "System trap",
                    "Fatal error", "Swift runtime failure",
                ]
            ),
            (
                "access",
                [
                    "SIGSEGV", "SIGBUS", "EXC_BAD_ACCESS", "Bad pointer dereference", "Access violation", "Bus error",
                    "Segmentation fault", "SEGV", "BUS",
                ]
            ),
            ("abort", ["SIGABRT", "Aborted", "ABRT"]),
        ]
        for (kind, words) in kinds where words.contains(where: { reason.byteRange(of: $0) != nil }) { return kind }
        return String(
            reason.lowercased().unicodeScalars.filter { ("a"..."z").contains($0) }.prefix(60).map(Character.init))
    }

    private static let dull: Set<String> = ["main", "$main", "_main"]
}
