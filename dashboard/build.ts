// Bundles the dashboard into a folder. Run as: bun dashboard/build.ts <folder>
import { join } from 'node:path'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Usage: bun dashboard/build.ts <folder>')

const { success, logs } = await Bun.build({
  entrypoints: [join(import.meta.dir, 'index.html')],
  outdir: folder,
  minify: true,
  splitting: true,
  sourcemap: 'none',
  publicPath: '/',
  naming: { chunk: 'assets/[name]-[hash].[ext]', asset: 'assets/[name]-[hash].[ext]' },
  define: { 'process.env.NODE_ENV': '"production"' },
})
for (const log of logs) console.error(log)
process.exitCode = success ? 0 : 1
