import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../config/config'
import { run } from './run'

/** The first and the eighth line of postmaster.pid. */
interface PidFile {
  pid: number
  /** `starting`, `ready`, `stopping`; empty until the server has written it. */
  status: string
}

/** Reads a cluster's postmaster.pid; undefined if there is none. */
export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  return pid > 1 ? { pid, status: lines[7]?.trim() ?? '' } : undefined
}

/**
 * Stops the server of `cluster` that a killed Tollgate left running. The caller holds the lock of the home, so a
 * server found here has no owner. Returns the process id of a stale postmaster.pid, which may belong to any process by
 * now; undefined without one. Throws `StartError` if the server does not stop.
 */
export async function takeOver(
  cluster: string,
  log: (line: string) => void,
): Promise<number | undefined> {
  const file = await readPidFile(cluster)
  if (!file || !(await isServer(file.pid, cluster))) return file?.pid
  log(`Stopping the PostgreSQL that an earlier Tollgate left running (process ${file.pid}).`)
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    send(file.pid, signal)
    if (await hasExited(file.pid, cluster)) return undefined
  }
  throw new StartError(
    `PostgreSQL (process ${file.pid}) still runs in ${cluster} and does not stop. End it first.`,
  )
}

/** Whether `pid` is a running postmaster of this cluster, not another process with the same number. */
async function isServer(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') {
    // The working directory of a postmaster is its data directory; the link follows a move. A zombie has none.
    const [directory, command] = await Promise.all([
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
      readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    ])
    return directory === cluster && /\/postgres\0/.test(command)
  }
  const { output } = await run({
    command: '/bin/ps',
    args: ['-ww', '-p', `${pid}`, '-o', 'command='],
    account: { uid: 0, gid: 0, isForeign: false },
    cwd: '/',
    timeoutMs: 5_000,
  })
  return output.includes('/postgres ') && output.includes(cluster)
}

async function hasExited(pid: number, cluster: string): Promise<boolean> {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    if (!(await isServer(pid, cluster))) return true
    await Bun.sleep(20)
  }
  return false
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process ended between the check and the signal.
  }
}
