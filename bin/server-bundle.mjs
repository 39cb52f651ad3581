// Bundles the server before a start: one program takes 15 MB less than the 1,800 modules that it is made from, and starts
// in less time. Plain JavaScript for Node 18 and later, like the launcher. Run by itself, it prints the program's path:
// servers ask for it when their workers are to run a new version.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { listSources, prepareBundle } from './bundle.mjs'
import { memoryBytes } from './engine.mjs'

/** The bundler takes 350 MB. */
const minMemoryBytes = 500_000_000

/**
 * Returns the path of the server's program: the bundle, or the sources where none can be made, as in a checkout that may
 * not be written.
 */
export async function prepareServer(root, bun, memory = memoryBytes()) {
  const sources = join(root, 'server/src/main.ts')
  if (memory < minMemoryBytes) return sources
  const bundle = await prepareBundle({
    root,
    bun,
    script: join(root, 'server/scripts/bundle-server.ts'),
    folder: join(root, 'dist/server'),
    sources: () => serverSources(root),
    entry: 'main.js',
    notice: 'Bundling the server, once for this version ...',
  })
  return bundle === undefined ? sources : join(bundle, 'main.js')
}

const serverSources = (root) => [
  ...listSources(join(root, 'server/src'), []).filter((path) => !path.endsWith('.test.ts')),
  join(root, 'server/package.json'),
  join(root, 'server/scripts/source-lines.ts'),
]

const [, script, root] = process.argv
if (root !== undefined && import.meta.url === pathToFileURL(script).href) {
  console.log(await prepareServer(root, process.execPath))
}
