import Testing

@testable import Sandbox

struct PlaceTests {
    /// Nothing of the box may be mounted below a folder that steps write to, so none of these may be where a user of the
    /// box, who may have any name, has a state folder or a repository.
    @Test(arguments: Sandbox.Place.writable)
    func `the folders of steps are not in a user's home`(place: String) {
        for homes in ["/home", "/root", "/srv", "/opt", "/var/lib", "/Users"] { #expect(!place.hasPrefix(homes + "/")) }
    }
}
