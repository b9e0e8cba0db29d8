internal import CAllocator
internal import Engine
internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a daemon that has nothing to do keeps in memory.
public enum Memory {
    /// Has the C library keep little of what is freed; to be called before the process starts its first thread.
    public static func prepare() { allocator_prepare() }

    /// Gives back what was freed, and lets go of code that was needed to get here and may not be needed again.
    ///
    /// Takes about a millisecond; code that is needed after all comes back from the page cache with a minor fault.
    static func release() {
        allocator_trim()
        #if os(Linux)
            for mapping in MappedCode.all() { madvise(mapping.start, mapping.length, MADV_DONTNEED) }
        #endif
    }
}

#if os(Linux)
    /// A piece of a program or library as it is in its file (proc_pid_smaps(5)).
    struct MappedCode {
        let start: UnsafeMutableRawPointer
        let length: Int

        /// Those that can be dropped: private mappings of files that can't be written and of which no page was.
        ///
        /// What the linker wrote to, as relocated constants, is not in its file and must stay: a mapping with one such
        /// page is left out whole.
        static func all() -> [MappedCode] {
            let text = String(decoding: (try? KernelFile.content(of: "/proc/self/smaps")) ?? [], as: UTF8.self)
            var found: [MappedCode] = []
            var candidate: MappedCode?
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", omittingEmptySubsequences: true)
                guard let first = words.first else { continue }
                if !first.hasSuffix(":") {
                    candidate = mapping(words)
                } else if first == "Anonymous:", let mapping = candidate {
                    if words.count == 3 && words[1] == "0" { found.append(mapping) }
                    candidate = nil
                }
            }
            return found
        }

        /// From a line like `7f12-7f34 r-xp 00000000 08:01 1234 /lib/libc.so.6`.
        private static func mapping(_ words: [Substring]) -> MappedCode? {
            guard words.count >= 6, words[1] == "r-xp" || words[1] == "r--p", words[4] != "0", words[5].hasPrefix("/")
            else { return nil }
            let bounds = words[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard bounds.count == 2, bounds[0] < bounds[1], let start = UnsafeMutableRawPointer(bitPattern: bounds[0])
            else { return nil }
            return MappedCode(start: start, length: Int(bounds[1] - bounds[0]))
        }
    }
#endif
