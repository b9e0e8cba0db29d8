import Client

extension JSONOutput {
    /// Prints the value on standard output.
    static func print(_ value: some Encodable) throws { Terminal.print(try text(value)) }
}
