import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { packed } from './packed-build'
import { toDashboardFile, type DashboardFiles } from '../http/dashboard'

const buildMs = 60_000
const script = join(import.meta.dir, '../../../dashboard/build.ts')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Returns a loader of the dashboard's files, which loads them at the first request: the files in the executable, the
 * bundle that the launcher made before the start, or else one that a separate process builds.
 */
export function createDashboardFiles(): () => Promise<DashboardFiles> {
  let files: Promise<DashboardFiles> | undefined
  return () => {
    files ??= load().catch((thrown: unknown) => {
      // The next request tries again.
      files = undefined
      throw thrown
    })
    return files
  }
}

function load(): Promise<DashboardFiles> {
  if (packed) return unpack(packed.dashboard)
  const folder = process.env['TOLLGATE_DASHBOARD']
  // An update may have removed the bundle of the version that runs.
  return folder ? readFolder(folder).catch(bundle) : bundle()
}

async function unpack(archive: string): Promise<DashboardFiles> {
  const files = await new Bun.Archive(await Bun.file(archive).bytes()).files()
  const read = async (name: string) => Buffer.from(await (files.get(name) ?? new Blob()).bytes())
  return filesOf([...files.keys()], read)
}

async function bundle(): Promise<DashboardFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-dashboard-'))
  try {
    const child = Bun.spawn([process.execPath, script, folder], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: buildMs,
    })
    const [problems, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (code !== 0) throw new Error(`the dashboard could not be bundled: ${problems.slice(0, 500)}`)
    return await readFolder(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readFolder(folder: string): Promise<DashboardFiles> {
  const names = await readdir(folder, { recursive: true })
  return filesOf(names, (name) => readFile(join(folder, name)))
}

async function filesOf(
  names: readonly string[],
  read: (name: string) => Promise<Buffer>,
): Promise<DashboardFiles> {
  const entries = names.flatMap((name) => {
    const type = types[extname(name)]
    return type === undefined ? [] : [{ name, type }]
  })
  const files = entries.map(async ({ name, type }) => {
    return [`/${name}`, toDashboardFile(type, await read(name))] as const
  })
  return new Map(await Promise.all(files))
}
