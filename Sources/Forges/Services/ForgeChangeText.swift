import ChangeOpening
import ForgeConnection
import Foundation
package import Store

/// What the title and the text of a change say that pipectl opened: the complete newest state.
package struct ForgeChangeText: Sendable, Equatable, Codable {
    package var change: Int
    package var title: String
    /// Markdown. Foreign text in it is escaped.
    package var body: String

    package init(change: Int, title: String, body: String) {
        (self.change, self.title, self.body) = (change, title, body)
    }

    /// Puts it into the outbox of the repository, in place of an earlier state. The same state twice changes nothing; where
    /// no forge is connected, nothing happens.
    package func want(in repository: String, _ index: Store.Index) async throws {
        let wanted = ForgeWanted.text(self)
        try await index.wantForgeItems([(wanted.thing, try wanted.json())], of: repository, run: nil, in: nil)
    }
}

extension ForgeSession {
    /// Makes a change say `text`; repeating it changes nothing.
    func show(_ text: ForgeChangeText) async throws -> String? {
        let service = openingService
        var wanted = ForgeOpening(branch: "", target: "", title: text.title, body: text.body, since: Date())
        wanted.fit(type(of: service).bodyLimit)
        try await service.retell(text.change, wanted)
        return nil
    }
}
