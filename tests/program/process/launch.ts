import { join } from 'node:path'
import { WaitTimeoutError } from '../../../server/testing/eventually'

const root = join(import.meta.dir, '../../..')

/** Before a test's own end, so that what the process printed is in the error. */
const startTimeoutMs = 50_000

/** A start of the server that is expected to fail, or to be killed. */
export interface Launch extends AsyncDisposable {
  pid: number
  out: () => string
  err: () => string
  /** Resolves with the exit code. */
  exited: Promise<number>
  kill: (signal: NodeJS.Signals) => void
  /** Resolves with the address once it is ready; rejects with the output if it ends before. */
  ready: () => Promise<string>
}

/** Starts the server with nothing but these variables, and does not wait. */
export function launch(environment: Record<string, string>): Launch {
  const child = Bun.spawn([process.execPath, 'server/src/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      WORKERS: '1',
      LOCAL_DISCOVERY: 'false',
      LOG_LEVEL: 'error',
      ...environment,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = { out: '', err: '' }
  const read = async (name: 'out' | 'err', stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) output[name] += decoder.decode(bytes, { stream: true })
  }
  const reading = [read('out', child.stdout), read('err', child.stderr)]
  const exited = Promise.all([child.exited, ...reading]).then(([code]) => code)
  return {
    pid: child.pid,
    out: () => output.out,
    err: () => output.err,
    exited,
    kill: (signal) => child.kill(signal),
    async ready() {
      const deadline = performance.now() + startTimeoutMs
      while (performance.now() < deadline && child.exitCode === null) {
        const [, address] = /is ready at (http:\S+)/.exec(output.out) ?? []
        // The rest of the greeting follows in the same write.
        if (address && output.out.endsWith('\n\n')) return address.replace('localhost', '127.0.0.1')
        await Bun.sleep(5)
      }
      const seen = `ready, so far:\n${output.out}${output.err}`
      if (child.exitCode === null) throw new WaitTimeoutError(seen, startTimeoutMs)
      throw new Error(`not ${seen}`)
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/**
 * Resolves once a server has read what was sent on other connections before: of two requests, one after the other, the
 * second is read later.
 */
export async function untilRead(url: string): Promise<void> {
  for (let nth = 0; nth < 2; nth += 1) await (await fetch(`${url}/healthz`)).text()
}

/** The processes of a PostgreSQL in this directory. */
export function postgresOf(dataDir: string): string[] {
  const { stdout } = Bun.spawnSync(['ps', '-ww', '-eo', 'pid=,args='])
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line.includes('postgres') && line.includes(dataDir))
}
