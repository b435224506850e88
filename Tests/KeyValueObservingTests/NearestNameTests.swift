import KeyValueObserving
import Testing

struct NearestNameTests {
    @Test(arguments: [
        ("compres", "compress"), ("rnu", "run"), ("Verify", "verify"), ("zzz", nil), ("verfiy", "verify"),
        ("verxxx", nil),
    ])
    func `the name with the fewest typing errors is the nearest`(name: String, nearest: String?) {
        #expect(nearestName(to: name, among: ["compress", "run", "verify"]) == nearest)
    }
}
