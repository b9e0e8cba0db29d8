#if os(Linux)
    import SystemPackage

    /// What is mounted in one mount namespace, as proc_pid_mountinfo(5) lists it: each mount after what it lies on.
    struct MountTable: Equatable {
        /// Where each is mounted; a path is there as often as something is mounted on it.
        var places: [String]

        init(_ text: some Sequence<UInt8>) {
            places = text.split(separator: 0x0A).compactMap { line in
                let fields = line.split(separator: 0x20, maxSplits: 5)
                return fields.count > 4 ? MountTable.plain(fields[4]) : nil
            }
        }

        /// Those of the thread that calls.
        static func ofThread() throws(Errno) -> MountTable {
            MountTable(try KernelFile.content(of: "/proc/thread-self/mountinfo"))
        }

        /// Those without which `shown` would not be what it is: what is on the way to one of these paths, or below it.
        ///
        /// Each once, and after those that it lies below; never the root.
        func needed(showing shown: [String]) -> [String] {
            var seen: Set<String> = ["/"]
            return places.filter { place in
                shown.contains { MountTable.areRelated(place, $0) } && seen.insert(place).inserted
            }
        }

        /// Whether one of two paths leads through the other.
        static func areRelated(_ one: String, _ other: String) -> Bool {
            leads(one, to: other) || leads(other, to: one)
        }

        private static func leads(_ folder: String, to path: String) -> Bool {
            guard path.utf8.starts(with: folder.utf8) else { return false }
            return path.utf8.count == folder.utf8.count || folder == "/"
                || path.utf8.dropFirst(folder.utf8.count).first == 0x2F
        }

        /// Spaces, tabs, line ends and backslashes are there as three octal digits.
        private static func plain(_ field: some Sequence<UInt8>) -> String {
            var bytes: [UInt8] = []
            var rest = Array(field)[...]
            while let byte = rest.popFirst() {
                guard byte == 0x5C, rest.count >= 3, rest.prefix(3).allSatisfy({ (0x30...0x37).contains($0) }) else {
                    bytes.append(byte)
                    continue
                }
                bytes.append(UInt8(truncatingIfNeeded: rest.prefix(3).reduce(0) { $0 * 8 + Int($1 - 0x30) }))
                rest = rest.dropFirst(3)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
