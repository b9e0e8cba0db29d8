/// Runs a program with bounded time and output: the room itself starts none.
///
/// It gets the program's path or name, its arguments, and the text for its standard input. It returns what the program
/// printed; nil if it is not installed, failed, or took too long.
public typealias SymbolToolRun =
    @Sendable (_ program: String, _ arguments: [String], _ input: String) async -> String?

/// The names by which the tools that read debug symbols may be installed, the best first.
public enum SymbolTools {
    /// LLVM's symbolizer: of Swift's toolchain, of the distribution, also with its version.
    public static func symbolizers(toolchain: String?) -> [String] {
        let own = toolchain.map { ["\($0)/usr/bin/llvm-symbolizer", "\($0)/bin/llvm-symbolizer"] } ?? []
        return own + ["llvm-symbolizer"] + (14...22).reversed().map { "llvm-symbolizer-\($0)" }
    }

    public static func demanglers(toolchain: String?) -> [String] {
        let own = toolchain.map { ["\($0)/usr/bin/swift-demangle", "\($0)/bin/swift-demangle"] } ?? []
        return own + ["swift-demangle"]
    }
}
