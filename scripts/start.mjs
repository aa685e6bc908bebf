// `npm start`: set-up, then `commonplace dev` with whatever follows `--`.
//
// The command line starts inside this process, or under a newer Node as its child; see bin/commonplace.mjs.
const PARENT_CHECK_MS = 1_000

process.argv.splice(2, 0, 'dev')
if (process.env.npm_lifecycle_event === 'start') endWithNpm()
await import('../bin/commonplace.mjs')

/**
 * npm passes signals on, except the one it cannot see: killed by SIGKILL it would leave a server behind that holds the
 * port and the data directory. Somebody who wants a server without a parent runs ./bin/commonplace.mjs.
 */
function endWithNpm() {
  const npm = process.ppid
  const check = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(check)
    process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  check.unref()
}
