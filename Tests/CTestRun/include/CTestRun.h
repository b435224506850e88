// Nothing to call: what this does, it does when the tests are loaded.
