// Bundles the dashboard before a start, so that the memory of the bundler is free again when the server runs. Plain
// JavaScript for Node 18 and later, like the launcher.
import { join } from 'node:path'
import { listSources, prepareBundle } from './bundle.mjs'

/**
 * Returns the folder of the bundle, which is made by `bun` where there is none; undefined where it cannot be made: the
 * server then bundles at the first view.
 */
export function prepareDashboard(root, bun) {
  return prepareBundle({
    root,
    bun,
    script: join(root, 'dashboard/build.ts'),
    folder: join(root, 'dist/dashboard'),
    sources: () => listSources(join(root, 'dashboard'), ['node_modules', 'screenshots']),
    entry: 'index.html',
    notice: 'Bundling the dashboard, once for this version ...',
  })
}
