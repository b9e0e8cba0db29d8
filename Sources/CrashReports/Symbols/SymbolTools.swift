/// Runs a program with bounded time and output: the room itself starts none.
///
/// It gets the program's path or name, its arguments, and the text for its standard input. It returns what the program
/// printed; nil if it is not installed, failed, or took too long.
public typealias SymbolToolRun =
    @Sendable (_ program: String, _ arguments: [String], _ input: String) async -> String?

/// The names by which the tools that read debug symbols may be installed, the best first.
public enum SymbolTools {
    /// LLVM's symbolizer: of Swift's toolchain, of the distribution, also with its version.
    ///
    /// - Parameter folder: The folder with the programs of Swift's toolchain.
    public static func symbolizers(in folder: String?) -> [String] {
        let own = folder.map { ["\($0)/llvm-symbolizer"] } ?? []
        return own + ["llvm-symbolizer"] + (14...22).reversed().map { "llvm-symbolizer-\($0)" }
    }

    public static func demanglers(in folder: String?) -> [String] {
        (folder.map { ["\($0)/swift-demangle"] } ?? []) + ["swift-demangle"]
    }
}
