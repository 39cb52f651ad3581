// Bundles what the launcher starts, once for each version of its sources. Plain JavaScript for Node 18 and later, like
// the launcher.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'

const buildMs = 120_000
/** The bundles that stay: a running server of the version before may not have read its own yet. */
const maxKept = 3
/** What npm writes when it installs: the lock file alone may be newer than the packages. */
const installed = 'node_modules/.package-lock.json'

/**
 * Returns the folder of a bundle below `folder`, which `script` makes where there is none; undefined where it cannot be
 * made, as in a checkout that may not be written. `sources` are the files that it is made from, beside the packages, and
 * `entry` is its file that is there once it is whole.
 */
export async function prepareBundle({ root, bun, script, folder, sources, entry, notice }) {
  if (!existsSync(script)) return undefined
  const digest = digestOf(root, [...sources(), script])
  const isUnchanged = () => digestOf(root, [...sources(), script]) === digest
  const current = currentBundle(folder, digest)
  if (current) return current
  if (notice && process.stderr.isTTY) console.error(notice)
  try {
    mkdirSync(folder, { recursive: true })
    const draft = mkdtempSync(join(folder, 'draft-'))
    const bundle = newName(folder, digest)
    try {
      if (!(await build(bun, [script, draft, bundle], join(draft, entry)))) return undefined
      // Else it has parts of two versions, under the name of one.
      if (!isUnchanged()) return undefined
      publish(draft, bundle)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
    removeOld(folder)
    return bundle
  } catch {
    return undefined
  }
}

/** Returns the digest of the files that a bundle is made from, and of what npm says that it installed. */
function digestOf(root, paths) {
  const hash = createHash('sha256')
  for (const path of [...paths, join(root, 'package-lock.json'), join(root, installed)]) {
    hash.update(`${path.slice(root.length)}\n`)
    if (existsSync(path)) hash.update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 24)
}

/** Lists the files below a folder, in the same order everywhere, without the given folders. */
export function listSources(folder, ignored) {
  const entries = readdirSync(folder, { withFileTypes: true })
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return ignored.includes(entry.name) ? [] : listSources(path, ignored)
  })
}

/** Finds the bundle of a digest whose packages are those of now. */
function currentBundle(folder, digest) {
  if (!existsSync(folder)) return undefined
  const named = readdirSync(folder).filter((name) => name.startsWith(digest))
  return named.map((name) => join(folder, name)).find(hasItsPackages)
}

/** Returns whether no file of a package has changed since the bundle was made: somebody may have edited one. */
function hasItsPackages(bundle) {
  const list = join(bundle, 'packages.json')
  if (!existsSync(list)) return true
  const packages = JSON.parse(readFileSync(list, 'utf8'))
  return packages.every(([path, size, changedMs]) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.size === size && Math.trunc(stats.mtimeMs) === changedMs
  })
}

/** Another bundle of the same sources, with other packages, may be in use. */
function newName(folder, digest) {
  const names = [digest, ...Array.from({ length: 99 }, (_, at) => `${digest}-${at + 2}`)]
  return join(folder, names.find((name) => !existsSync(join(folder, name))) ?? digest)
}

/** Returns whether the bundle is whole. */
async function build(bun, args, entry) {
  const child = spawn(bun, args, { stdio: 'ignore', timeout: buildMs })
  const [code] = await once(child, 'exit')
  return code === 0 && existsSync(entry)
}

/** Another start may have been faster: its bundle is as good. */
function publish(draft, bundle) {
  try {
    renameSync(draft, bundle)
  } catch (error) {
    if (!existsSync(bundle)) throw error
  }
}

function removeOld(folder) {
  const bundles = readdirSync(folder)
    .filter((name) => !name.startsWith('draft-'))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
  bundles.sort((one, other) => other.at - one.at)
  for (const { path } of bundles.slice(maxKept)) rmSync(path, { recursive: true, force: true })
}
