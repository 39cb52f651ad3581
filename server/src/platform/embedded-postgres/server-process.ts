import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile, open, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { damaged } from './cluster'
import type { ServerHome } from './home'
import { cannotRun, identity, serverEnvironment } from './run'
import { port } from './socket-directory'
import { readPidFile } from './takeover'

/** The paths that a server needs to run. */
export interface ServerPaths {
  home: ServerHome
  programs: string
  socketDirectory: string
  /** The process id in a postmaster.pid that is known to belong to no server. */
  stalePid: number | undefined
}

/** Crash recovery reads at most `max_wal_size` and what followed it: seconds, on a slow disk more. */
const readyDeadlineMs = 120_000
const stopDeadlineMs = 10_000
const logLimitBytes = 4 << 20

/** One run of the server as our child process, in its own session: Ctrl-C must reach us, not the server. */
export class ServerProcess {
  /** Resolves with a reason when the server has ended, whether or not it was stopped. */
  readonly exited: Promise<string>
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, exited: Promise<string>) {
    this.#child = child
    this.exited = exited
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves when the server accepts connections. Throws `StartError`, quoting the server. */
  static async start(paths: ServerPaths): Promise<ServerProcess> {
    const { home } = paths
    const logPath = join(home.path, 'server.log')
    await boundLog(logPath)
    const from = await stat(logPath).then(({ size }) => size)
    const { child, exited } = await launch(paths, logPath)
    const server = new ServerProcess(child, exited)
    const deadline = performance.now() + readyDeadlineMs
    while (performance.now() < deadline) {
      const file = await readPidFile(home.cluster)
      if (file?.pid === child.pid && file?.status === 'ready') return server
      const ended = await Promise.race([exited, Bun.sleep(5).then(() => '')])
      if (ended) throw damaged(home.cluster, (await quote(logPath, from)) || ended)
    }
    await server.stop()
    throw damaged(home.cluster, `the server was not ready in ${readyDeadlineMs / 1000} s`)
  }

  /** Ends all connections and the server; after a timeout it stops the server without a checkpoint. */
  async stop(): Promise<void> {
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      this.#child.kill(signal)
      const waiting = new AbortController()
      const late = sleep(stopDeadlineMs, waiting.signal)
      const hasEnded = await Promise.race([this.exited.then(() => true), late.then(() => false)])
      waiting.abort()
      if (hasEnded) return
    }
  }
}

/** Bounds the server's log: beyond a size it is copied to `server.log.1` and truncated. */
export async function boundLog(path: string): Promise<void> {
  const file = await open(path, 'a', 0o600)
  await file.close()
  if ((await stat(path)).size < logLimitBytes) return
  await copyFile(path, `${path}.1`)
  // Truncated, not renamed: the server keeps appending to the file that it was given.
  await truncate(path)
}

async function launch({ home, ...paths }: ServerPaths, logPath: string) {
  const command = join(paths.programs, 'bin/postgres')
  const log = await open(logPath, 'a', 0o600)
  const { promise: exited, resolve } = Promise.withResolvers<string>()
  const spawned = Promise.withResolvers<void>()
  const child = spawn(command, ['-D', home.cluster, ...settings(paths.socketDirectory)], {
    ...identity(home.account),
    cwd: home.cluster,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...serverEnvironment,
      // PostgreSQL refuses to start while the process in a stale postmaster.pid lives, whatever process that is now.
      // This names a process that cannot be a server; all its other checks remain.
      ...(paths.stalePid && { PG_GRANDPARENT_PID: `${paths.stalePid}` }),
    },
  })
  // Also stops the server when this process exits without waiting: the server would outlive us in its session.
  const end = () => void child.kill('SIGINT')
  process.once('exit', end)
  child.once('spawn', () => spawned.resolve())
  child.once('error', (cause) => spawned.reject(cannotRun(command, cause)))
  child.once('exit', (code, signal) => {
    process.off('exit', end)
    resolve(signal ? `ended by ${signal}` : `exited with code ${code}`)
  })
  await spawned.promise.finally(() => log.close())
  return { child, exited }
}

function settings(socketDirectory: string): string[] {
  const values = {
    listen_addresses: '',
    // The value is a list: quotes keep a comma in the path from separating entries.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port,
    // 100 for Tollgate: PostgreSQL keeps three for superusers.
    max_connections: 103,
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    fsync: 'on',
    // Parallel workers share memory in /dev/shm, of which a container often has 64 MB.
    max_parallel_workers_per_gather: 0,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // Statements and the details of errors contain customers' data.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Returns the server's own reason for its end: its last fatal line since `from`, else its last line. */
async function quote(logPath: string, from: number): Promise<string> {
  const text = await Bun.file(logPath).slice(from).text()
  const fatal = text.match(/(?:FATAL|PANIC): .*/g)?.[0]
  const reason =
    fatal ??
    text
      .trim()
      .split('\n')
      .find((line) => line.startsWith('postgres:'))
  return (reason ?? text.trim().split('\n').at(-1) ?? '').replace(/\s+/g, ' ').replace(/\.$/, '')
}

/** Resolves after `ms`, or at once when `signal` is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}
