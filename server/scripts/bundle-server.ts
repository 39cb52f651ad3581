// Bundles the server into a folder. Run as: bun server/scripts/bundle-server.ts <folder> <target>
// `target` is the path that the folder will have.
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BunPlugin } from 'bun'
import { keepLines } from './source-lines'

const root = join(import.meta.dir, '../..')

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

/** Rewrites the source maps of a bundle, so that they take little memory. */
async function thinMaps(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.map'))
  for (const name of names) {
    const map = await Bun.file(join(folder, name)).json()
    const program = await Bun.file(join(folder, name.replace(/\.map$/, ''))).text()
    const { sources, mappings } = keepLines(map, program)
    // The engine rejects a map without names and contents.
    const rest = { names: [], sourcesContent: sources.map(() => null) }
    await Bun.write(join(folder, name), JSON.stringify({ version: 3, sources, mappings, ...rest }))
  }
}

/**
 * Lists the files of packages that went into a bundle, with their sizes and times: the launcher compares them. Throws for
 * a file that it does not compare, as a change of that would go unseen.
 */
async function listPackages(inputs: readonly string[]): Promise<unknown[]> {
  const paths = inputs.map((path) => resolve(path)).filter((path) => !isOwn(path))
  const unseen = paths.find((path) => !path.includes('/node_modules/'))
  if (unseen !== undefined)
    throw new Error(`The bundle has a file that no version counts: ${unseen}`)
  return Promise.all(
    paths.map(async (path) => {
      const { size, mtimeMs } = await stat(path)
      return [path, size, Math.trunc(mtimeMs)]
    }),
  )
}

/** The launcher counts these by their contents. */
const isOwn = (path: string) =>
  ['src/', 'testing/', 'package.json'].some((it) => path.startsWith(join(root, 'server', it)))

/** The folder of a bundle while it is written, and its path after that. */
interface Place {
  folder: string
  target: string
}

/** Bundles programs of the server with what they share. Throws where that fails. */
export async function bundleServer(programs: string[], { folder, target }: Place): Promise<void> {
  const { metafile } = await Bun.build({
    entrypoints: programs.map((path) => join(root, 'server', path)),
    target: 'bun',
    outdir: folder,
    naming: { entry: '[name].[ext]' },
    // Its assets and chunks are found from any working directory.
    publicPath: `${target}/`,
    // Modules that main.ts imports when it needs them stay apart, as they are in the sources.
    splitting: true,
    sourcemap: 'linked',
    metafile: true,
    plugins: [atSource],
  })
  await thinMaps(folder)
  const packages = await listPackages(Object.keys(metafile?.inputs ?? {}))
  await Bun.write(join(folder, 'packages.json'), JSON.stringify(packages))
}

if (import.meta.main) {
  const [folder, target] = process.argv.slice(2)
  if (!folder || !target) throw new Error('Usage: bundle-server.ts <folder> <target>')
  await bundleServer(['src/main.ts'], { folder, target })
}
