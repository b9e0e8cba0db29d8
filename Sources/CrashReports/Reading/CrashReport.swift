public import Foundation

/// What a crash report says, whatever its format: a value of untrusted text with bounded size.
public struct CrashReport: Sendable, Equatable, Codable {
    /// Who wrote the report.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// Apple's JSON form since iOS 15 and macOS 12: `.ips`.
        case appleJSON
        /// Apple's older text form: `.crash`.
        case appleText
        /// Swift's own backtrace on Linux and macOS.
        case swiftBacktrace
        /// AddressSanitizer, ThreadSanitizer, UndefinedBehaviorSanitizer and their like.
        case sanitizer
    }

    public var format: Format
    /// The program's name, as in `Shop`.
    public var program: String?
    /// As in `com.example.shop`.
    public var bundle: String?
    /// The version for people and the build number: `1.4.2`, `317`.
    public var version: String?
    public var build: String?
    /// When it crashed.
    public var at: Date?
    /// As in `iPhone OS 18.1 (22B83)`.
    public var system: String?
    /// `arm64`, `x86_64` and so on.
    public var architecture: String?
    /// What stopped the program, as in `EXC_BAD_ACCESS (SIGSEGV)` or `heap-buffer-overflow`.
    public var reason: String
    /// What the program or its runtime said, as in `Index out of range`.
    public var message: String?
    /// The calls of the thread that crashed, the innermost first.
    public var frames: [Frame]
    /// The files that were loaded, without those that no frame is in.
    public var images: [Image]

    /// One call.
    public struct Frame: Sendable, Equatable, Codable {
        /// The name of the file that has the code: `Shop`, `libswiftCore.dylib`.
        public var image: String?
        /// Of an instruction of the call, relative to the start of the image; nil if the report has none.
        ///
        /// A return address belongs to the instruction after the call, so readers take one from it.
        public var offset: UInt64?
        /// Without its offset; it may be a mangled name.
        public var function: String?
        /// As the compiler knew it; often an absolute path of another machine.
        public var file: String?
        public var line: Int?
        public var column: Int?
        /// Whether the code is the program's own rather than a library's of the system.
        public var isOwn: Bool

        public init(
            image: String? = nil, offset: UInt64? = nil, function: String? = nil, file: String? = nil,
            line: Int? = nil, column: Int? = nil, isOwn: Bool = false
        ) {
            self.image = image
            self.offset = offset
            self.function = function
            self.file = file
            self.line = line
            self.column = column
            self.isOwn = isOwn
        }
    }

    /// A file with code, which debug symbols are looked up by.
    public struct Image: Sendable, Equatable, Codable {
        public var name: String
        /// Mach-O's UUID or ELF's build id, as lower-case hex without dashes.
        public var identifier: String?
        public var architecture: String?

        public init(name: String, identifier: String? = nil, architecture: String? = nil) {
            self.name = name
            self.identifier = identifier
            self.architecture = architecture
        }
    }

    public init(format: Format, reason: String, frames: [Frame] = [], images: [Image] = []) {
        self.format = format
        self.reason = reason
        self.frames = frames
        self.images = images
    }
}
