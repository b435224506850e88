import DashboardCore
import Testing

@Suite struct ServeArgumentsTests {
    @Test func `a page changes nothing and hides inputs unless the arguments permit it`() {
        #expect(ServeArguments([]) == ServeArguments(["--port", "8080"]))
        let arguments = ServeArguments(["--steer", "--port", "0", "--inputs"])
        #expect(arguments?.steers == true && arguments?.showsInputs == true && arguments?.port == 0)
        #expect(ServeArguments([])?.steers == false && ServeArguments([])?.showsInputs == false)
    }

    @Test(arguments: [
        ["--port"], ["--port", "x"], ["--port", "65536"], ["--port", "-1"], ["work.db"], ["--steer=1"],
    ])
    func `a wrong argument is refused`(_ words: [String]) { #expect(ServeArguments(words) == nil) }
}
