import { spawnSync } from 'node:child_process'
import { arch, cpus, platform, release, totalmem } from 'node:os'

/** Figures mean nothing without the machine they were taken on. */
export function describeMachine() {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    platform: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
  }
}

/** The commit that was measured, marked when the working tree differs from it; null outside a repository. */
export function currentCommit(root: string): string | null {
  const commit = git(root, ['rev-parse', 'HEAD'])
  if (commit === null) return null
  return git(root, ['status', '--porcelain', '--untracked-files=no']) === '' ? commit : `${commit} with changes`
}

function git(root: string, args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
