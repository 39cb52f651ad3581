// The commit that a checkout is at, for --version, the start and the dashboard. Plain JavaScript for Node 18 and
// later, like the launcher. Reads the git directory itself: git need not be installed.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Returns the first 12 digits of the commit: `TOLLGATE_COMMIT`, else that of the checkout. Undefined where there is
 * neither, as in an archive of the sources.
 */
export function findCommit(root, environment = process.env) {
  return shorten(environment.TOLLGATE_COMMIT) ?? shorten(readHead(root))
}

/** Appends the commit to a version, as its build metadata: `0.6.0+41fc8a0c32f1`. */
export function toBuildVersion(version, commit) {
  return commit === undefined ? version : `${version}+${commit}`
}

function shorten(commit) {
  return /^[0-9a-f]{7,64}$/.test(commit ?? '') ? commit.slice(0, 12) : undefined
}

function readHead(root) {
  const gitDirectory = findGitDirectory(root)
  const head = read(gitDirectory, 'HEAD')
  const [, name] = /^ref: (refs\/\S+)$/.exec(head ?? '') ?? []
  if (name === undefined) return head
  // A worktree has its own HEAD; branches are in the directory that it shares.
  const shared = resolve(gitDirectory, read(gitDirectory, 'commondir') ?? '.')
  return read(gitDirectory, name) ?? read(shared, name) ?? findPacked(shared, name)
}

function findGitDirectory(root) {
  const path = join(root, '.git')
  const [, elsewhere] = /^gitdir: (.+)$/.exec(read(root, '.git') ?? '') ?? []
  return elsewhere === undefined ? path : resolve(root, elsewhere)
}

function findPacked(gitDirectory, name) {
  const lines = (read(gitDirectory, 'packed-refs') ?? '').split('\n')
  return lines.find((line) => line.endsWith(` ${name}`))?.split(' ')[0]
}

/** Returns the text of a file; undefined where it cannot be read. */
function read(folder, name) {
  try {
    return readFileSync(join(folder, name), 'utf8').trim()
  } catch {
    return undefined
  }
}
