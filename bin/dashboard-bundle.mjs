// Bundles the dashboard before a start, once for each version of its sources, so that the memory of the bundler is
// free again when the server runs. Plain JavaScript for Node 18 and later, like the launcher.
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

/**
 * Returns the folder of the bundle, which is made by `bun` where there is none; undefined where it cannot be made, as
 * in a checkout that may not be written: the server then bundles at the first view.
 */
export async function prepareDashboard(root, bun) {
  const script = join(root, 'dashboard/build.ts')
  if (!existsSync(script)) return undefined
  const folder = join(root, 'dist/dashboard')
  const bundle = join(folder, digestOf(root))
  if (existsSync(bundle)) return bundle
  if (process.stderr.isTTY) console.error('Bundling the dashboard, once for this version ...')
  try {
    mkdirSync(folder, { recursive: true })
    const draft = mkdtempSync(join(folder, 'draft-'))
    try {
      if (!(await build(bun, script, draft))) return undefined
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

/** Returns the digest of everything that the bundle is made from. */
function digestOf(root) {
  const hash = createHash('sha256')
  for (const path of [...listSources(join(root, 'dashboard')), join(root, 'package-lock.json')]) {
    hash.update(`${path.slice(root.length)}\n`)
    if (existsSync(path)) hash.update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 24)
}

function listSources(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return ['node_modules', 'screenshots'].includes(entry.name) ? [] : listSources(path)
  })
}

/** Returns whether the bundle is whole. */
async function build(bun, script, folder) {
  const child = spawn(bun, [script, folder], { stdio: 'ignore', timeout: buildMs })
  const [code] = await once(child, 'exit')
  return code === 0 && existsSync(join(folder, 'index.html'))
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
