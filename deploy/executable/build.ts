// Builds the single executable: server, dashboard and embedded PostgreSQL in one file without further
// dependencies. Run as: npm run build [-- <path>]
import { mkdir, mkdtemp, readFile, readdir, readlink, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { findCommit } from '../../bin/commit.mjs'
import { createTar, type TarMember } from '../../server/src/commands/backup/tar'
import type { PackedPrograms } from '../../server/src/platform/embedded-postgres/packed-programs'
import { findInstalledPrograms } from '../../server/src/platform/embedded-postgres/installed-package'

const root = join(import.meta.dir, '../..')

/** Packs a folder as an archive. */
async function archiveOf(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const entries = found.map(async (it): Promise<TarMember> => {
    const full = join(it.parentPath, it.name)
    const name = full.slice(folder.length + 1)
    if (it.isDirectory()) return { name, mode: 0o755 }
    if (it.isSymbolicLink()) return { name, mode: 0o777, target: await readlink(full) }
    return { name, mode: 0o644, bytes: await readFile(full) }
  })
  return createTar(await Promise.all(entries))
}

async function packDashboard(work: string): Promise<string> {
  const folder = join(work, 'dashboard')
  const script = join(root, 'dashboard/build.ts')
  const child = Bun.spawn([process.execPath, script, folder], { stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('the dashboard could not be bundled')
  const path = join(work, 'dashboard.tar')
  await Bun.write(path, await archiveOf(folder))
  return path
}

async function packPrograms(work: string): Promise<PackedPrograms> {
  const programs = await findInstalledPrograms()
  const folder = join(work, 'programs')
  await programs.writeTo(folder)
  const tar = await archiveOf(folder)
  const digest = new Bun.CryptoHasher('sha256').update(tar).digest('hex').slice(0, 16)
  const archive = join(work, 'programs.tar.zst')
  await Bun.write(archive, await Bun.zstdCompress(tar, { level: 12 }))
  const sizes = Object.fromEntries(await programs.sizes())
  return { name: `${programs.name}-${digest}`, archive, sizes }
}

/** Replaces the module of packed files, which is empty in the sources, by one with the actual files. */
const carrying = (dashboard: string, { archive, ...programs }: PackedPrograms): BunPlugin => ({
  name: 'packed',
  setup(build) {
    // Throws where the module has moved: without its files the executable would start without a dashboard.
    const replaced = Bun.resolveSync('./server/src/server/packed-build.ts', root)
    build.onLoad({ filter: new RegExp(`^${RegExp.escape(replaced)}$`) }, () => ({
      loader: 'ts',
      contents: `
        import dashboard from ${JSON.stringify(dashboard)} with { type: 'file' }
        import archive from ${JSON.stringify(archive)} with { type: 'file' }
        const commit = ${JSON.stringify(findCommit(root) ?? null)}
        export const packed = { dashboard, programs: { ...${JSON.stringify(programs)}, archive }, commit }`,
    }))
  },
})

async function compile(outfile: string, plugin: BunPlugin): Promise<void> {
  const { success, logs } = await Bun.build({
    // The worker is beside the entry in the executable, whatever folder its source is in.
    entrypoints: [
      join(import.meta.dir, 'entry.ts'),
      join(root, 'server/src/metering/token-worker.ts'),
    ],
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    // Else the server holds the text of every command, and of features that are off: 7 MB.
    splitting: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'none',
    plugins: [plugin],
    // Files in the working directory must not change how it runs.
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  for (const log of logs) console.error(log)
  if (!success) throw new Error('the executable could not be built')
}

const [path = join(root, 'dist/tollgate')] = process.argv.slice(2)
const outfile = resolve(path)
const work = await mkdtemp(join(tmpdir(), 'tollgate-build-'))
try {
  await mkdir(dirname(outfile), { recursive: true })
  const plugin = carrying(await packDashboard(work), await packPrograms(work))
  // A running executable is not overwritten, but replaced when the new one is complete.
  const draft = `${outfile}.new`
  await compile(draft, plugin)
  await rename(draft, outfile)
  console.log(`${outfile}: ${Math.round(Bun.file(outfile).size / 1e6)} MB`)
} finally {
  await rm(work, { recursive: true, force: true })
}
