import Results
import Store
import Testing

/// What is known of the labels of changes.
@Suite struct LabelTests {
    private func connected() async throws -> Store.Index {
        let index = try Store.Index.inMemory()
        try await index.connectForge("app", address: "a", location: "/app")
        return index
    }

    private func keep(_ index: Store.Index, _ head: String, _ labels: [String], isBaseline: Bool = false) async throws {
        let facts = ChangeFacts(title: "t", author: "a", head: head, target: "main", labels: labels)
        _ = try await index.keepForgeChanges(["7": facts], of: "app", isBaseline: isBaseline)
    }

    private func mark(_ index: Store.Index) async throws -> LabelMark? {
        try await index.labelledForgeChanges(of: "app").first?.labels["land"]
    }

    @Test func `a label that comes to a known head is seen at it, and stays so until it goes`() async throws {
        let index = try await connected()
        try await keep(index, "h1", [])
        #expect(try await index.labelledForgeChanges(of: "app").isEmpty)
        try await keep(index, "h1", ["land"])
        #expect(try await mark(index) == LabelMark(head: "h1"))
        try await keep(index, "h2", ["ci", "land"])
        #expect(try await mark(index) == LabelMark(head: "h1"))
        try await keep(index, "h2", [])
        #expect(try await mark(index) == nil)
        try await keep(index, "h2", ["land"])
        #expect(try await mark(index) == LabelMark(head: "h2"))
    }

    @Test func `a label that comes with a push, or with the change, is seen at no head`() async throws {
        let index = try await connected()
        try await keep(index, "h1", ["land"])
        #expect(try await mark(index) == LabelMark())
        try await keep(index, "h1", [])
        try await keep(index, "h2", ["land"])
        #expect(try await mark(index) == LabelMark())
    }

    @Test func `a label from before the connection asks for nothing until it is set anew`() async throws {
        let index = try await connected()
        try await keep(index, "h1", ["land"], isBaseline: true)
        #expect(try await mark(index)?.done == "h1")
        try await keep(index, "h1", [])
        try await keep(index, "h1", ["land"])
        #expect(try await mark(index) == LabelMark(head: "h1"))
    }

    @Test func `what was done because of a label is forgotten with it`() async throws {
        let index = try await connected()
        try await keep(index, "h1", [])
        try await keep(index, "h1", ["land"])
        try await index.noteLabel("land", done: "h1", of: "7", in: "app")
        #expect(try await mark(index) == LabelMark(head: "h1", done: "h1"))
        try await keep(index, "h1", [])
        try await index.noteLabel("land", done: "h1", of: "7", in: "app")
        #expect(try await index.labelledForgeChanges(of: "app").isEmpty)
    }
}
