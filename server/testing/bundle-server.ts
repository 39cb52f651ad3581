/**
 * Prints the path of the server as one program for the gateways of tests: bundled from these very sources, it starts
 * with two thirds of the processor time, as its 1,500 modules are neither looked up nor transpiled. It is made once
 * per version of the sources.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Glob, type BunPlugin } from 'bun'

const root = join(import.meta.dir, '../..')
const cache = join(root, 'node_modules/.cache/tollgate-servers')
/** Files of this folder that are in the bundle, or make it. */
const own = ['bundle-server.ts', 'gateway-host.ts', 'gateway-hosts.ts'].map(
  (name) => `server/testing/${name}`,
)
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

/** Has each module know the folder of its source: it starts workers and scripts that lie beside it. */
const atSource: BunPlugin = {
  name: 'at source',
  setup(build) {
    build.onLoad({ filter: /\/server\/src\/.*\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await Bun.file(path).text())
        .replaceAll('import.meta.dir', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    }))
  },
}

async function bundle(target: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  await removeOld()
  const draft = await mkdtemp(join(cache, 'draft-'))
  await Bun.build({
    entrypoints: ['src/main.ts', 'testing/gateway-host.ts'].map((path) =>
      join(root, 'server', path),
    ),
    target: 'bun',
    outdir: draft,
    naming: { entry: '[name].[ext]' },
    // Its assets and chunks are found from any working directory.
    publicPath: `${target}/`,
    // Modules that main.ts imports when it needs them stay apart, as they are in the sources.
    splitting: true,
    plugins: [atSource],
  })
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
