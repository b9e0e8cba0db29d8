package import NIOCore

/// A request's body that is streamed from a file.
package struct ForgeUpload: Sendable {
    package let content: FileBytes
    /// The media type.
    package let type: String

    package init(_ content: FileBytes, type: String = "application/octet-stream") {
        self.content = content
        self.type = type
    }

    /// A minute, and a second more for each 128 KiB.
    package var deadline: TimeAmount { .seconds(60 + Int64(content.count >> 17)) }
}
