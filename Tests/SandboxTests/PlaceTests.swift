import Testing

@testable import Sandbox

struct PlaceTests {
    /// Nothing of the machine may be mounted below a folder that steps write to. So none of these may be a place where
    /// a user, with whatever name, may have a state folder or a repository.
    @Test(arguments: Sandbox.Place.writable)
    func `the folders of steps are not in a user's home`(place: String) {
        for homes in ["/home", "/root", "/srv", "/opt", "/var/lib", "/Users"] { #expect(!place.hasPrefix(homes + "/")) }
    }
}
