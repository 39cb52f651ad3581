import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { toDashboardFile, type DashboardFiles } from '../http/dashboard'

const buildMs = 60_000
const script = join(import.meta.dir, '../../../dashboard/build.ts')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The dashboard's files; bundled, in a process of its own, when somebody first asks for one. */
export function dashboardFiles(): () => Promise<DashboardFiles> {
  let files: Promise<DashboardFiles> | undefined
  return () => {
    files ??= bundle().catch((thrown: unknown) => {
      // The next one tries again.
      files = undefined
      throw thrown
    })
    return files
  }
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
    return await filesOf(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function filesOf(folder: string): Promise<DashboardFiles> {
  const names = await readdir(folder, { recursive: true })
  const files = names.flatMap((name) => {
    const type = types[extname(name)]
    return type === undefined ? [] : [{ name, type }]
  })
  const read = files.map(async ({ name, type }) => {
    const file = toDashboardFile(type, await readFile(join(folder, name)))
    return [`/${name}`, file] as const
  })
  return new Map(await Promise.all(read))
}
