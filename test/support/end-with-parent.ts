// Loaded with --import into a server that a test started: when the test's process ends, however it ends, its end of the
// server's standard input closes, and the server must not outlive it.
process.stdin.once('close', () => process.exit(1)).resume()
;(process.stdin as unknown as { unref(): void }).unref()
