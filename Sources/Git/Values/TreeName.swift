/// Names that a tree may contain but that none of our commits has, because some systems or programs treat them as other
/// names.
///
/// These are the names that `git fsck` refuses (its fsck.c and path.c: `.git` as HFS+ and NTFS see it), and those that
/// could be mistaken for others on a terminal or in a list.
public enum TreeName {
    /// Why a part of a path can't be used, as the end of a sentence; nil if it can.
    public static func problem(_ name: [UInt8]) -> String? {
        if name.isEmpty || name == [0x2e] || name == [0x2e, 0x2e] { return "it is not a name" }
        if name.contains(where: { $0 < 0x20 || $0 == 0x7f }) { return "it contains a control character" }
        if name.contains(0x2f) || name.contains(0x5c) { return "it contains a slash or backslash" }
        guard let text = String(validating: name, as: UTF8.self) else { return "it is not UTF-8" }
        if text.unicodeScalars.contains(where: { (0x80...0x9f).contains($0.value) }) {
            return "it contains a control character"
        }
        return isGit(text) ? "some systems treat it as .git" : nil
    }

    /// Whether some system treats the name as `.git`.
    public static func isGit(_ name: String) -> Bool { isLike(".git", short: ["git~1"], name) }

    /// Whether some system treats the name as `.gitmodules`.
    public static func isModules(_ name: String) -> Bool {
        isLike(".gitmodules", short: (1...4).map { "gitmod~\($0)" }, name) || name.lowercased().hasPrefix("gi7eba~")
    }

    /// Whether a file system may treat `name` as `wanted`.
    static func isLike(_ wanted: String, short: [String], _ name: String) -> Bool {
        // HFS+ ignores these; NTFS ignores what follows a colon, and dots and spaces at the end.
        var scalars = name.unicodeScalars.filter { !isPassedOver($0.value) }
        if let colon = scalars.firstIndex(of: ":") { scalars = String.UnicodeScalarView(scalars[..<colon]) }
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        let plain = String(scalars).lowercased()
        return plain == wanted || short.contains(plain)
    }

    /// Code points that HFS+ ignores when it compares names (`next_hfs_char` of Git's utf8.c).
    private static func isPassedOver(_ value: UInt32) -> Bool {
        (0x200c...0x200f).contains(value) || (0x202a...0x202e).contains(value) || (0x206a...0x206f).contains(value)
            || value == 0xfeff
    }
}
