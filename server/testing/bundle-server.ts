/**
 * Prints the path of the server as one program for the gateways of tests: bundled from these very sources, as `npm
 * start` runs it, it starts with two thirds of the processor time, as its 1,800 modules are neither looked up nor
 * transpiled. It is made once per version of the sources.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Glob } from 'bun'
import { bundleServer } from '../scripts/bundle-server'

const root = join(import.meta.dir, '../..')
const cache = join(root, 'node_modules/.cache/tollgate-servers')
/** Other files that are in the bundle, or make it. */
const own = [
  ...['bundle-server.ts', 'gateway-host.ts', 'gateway-hosts.ts'].map((it) => `testing/${it}`),
  ...['bundle-server.ts', 'source-lines.ts'].map((it) => `scripts/${it}`),
].map((path) => `server/${path}`)
const dayMs = 86_400_000

/** Returns a version that changes with the sources and with the installed packages. */
async function version(): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256').update(Bun.version)
  const sources = await Array.fromAsync(new Glob('server/src/**/*.{ts,json}').scan(root))
  const paths = sources.filter((path) => !path.endsWith('.test.ts')).toSorted()
  for (const path of [...paths, 'package-lock.json', ...own]) {
    hash.update(`${path}\n`).update(await Bun.file(join(root, path)).bytes())
  }
  return hash.digest('hex').slice(0, 24)
}

async function bundle(target: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  await removeOld()
  const draft = await mkdtemp(join(cache, 'draft-'))
  await bundleServer(['src/main.ts', 'testing/gateway-host.ts'], { folder: draft, target })
  // Another run may have been faster: its result is equally good.
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }))
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name))
    if (Date.now() - mtimeMs > dayMs) await rm(join(cache, name), { recursive: true, force: true })
  }
}

const target = join(cache, await version())
const isThere = await Bun.file(join(target, 'main.js')).exists()
if (!isThere) await bundle(target)
const now = new Date()
await utimes(target, now, now)
console.log(join(target, 'main.js'))
