import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGateway, type Gateway, type RigOptions } from '../tests/harness/server'

const root = join(import.meta.dir, '..')
const clockTicks = 100

/** A gateway and a fake provider, each in its own process, and an API key. */
export interface BenchGateway extends AsyncDisposable {
  gateway: Gateway
  key: string
  /** The fake provider's address, ending in /v1. */
  upstreamUrl: string
  upstreamPort: number
  /** Registers `fake/<name>`. */
  model: (name: string) => Promise<string>
}

/** Starts both and connects them. `preload` changes the gateway before it starts. */
export async function startBenchGateway({
  preload,
  environment,
}: Pick<RigOptions, 'preload' | 'environment'> = {}): Promise<BenchGateway> {
  await using started = new AsyncDisposableStack()
  const upstream = Bun.spawn([process.execPath, 'tests/harness/upstreams/main.ts'], {
    cwd: root,
    stdout: 'pipe',
  })
  started.defer(async () => {
    upstream.kill()
    await upstream.exited
  })
  const { value } = await upstream.stdout.getReader().read()
  const [, upstreamUrl = ''] = / on (\S+)/.exec(new TextDecoder().decode(value)) ?? []
  const gateway = started.use(
    await startGateway({
      environment: { LOG_LEVEL: 'warn', ...environment },
      ...(preload !== undefined && { preload }),
    }),
  )
  const base = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: upstreamUrl }
  await gateway.admin('POST', '/providers', base)
  await gateway.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  const { key } = await gateway.customer()
  const all = started.move()
  return {
    gateway,
    key,
    upstreamUrl,
    upstreamPort: Number(new URL(upstreamUrl).port),
    async model(name) {
      const id = `fake/${name}`
      const pricing = { input: 1, output: 4 }
      await gateway.admin('POST', '/models', { id, name, category: 'chat', pricing })
      return id
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Returns the resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const [, kilobytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 102.4) / 10
}

const statOf = (path: string) => {
  const [name = '', rest = ''] = readFileSync(path, 'utf8').split(/\) (?=\S+ -?\d)/)
  const fields = rest.split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return { name: name.slice(name.indexOf('(') + 1), micros: (ticks * 1_000_000) / clockTicks }
}

/** Returns the CPU time that a process has used so far, in microseconds. */
export const cpuMicros = (pid: number): number => statOf(`/proc/${pid}/stat`).micros

/** Returns the CPU time of a process by the names of its running threads, in microseconds. */
export function cpuByThread(pid: number): Map<string, number> {
  const sums = new Map<string, number>()
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const { name, micros } = statOf(`/proc/${pid}/task/${id}/stat`)
    sums.set(name, (sums.get(name) ?? 0) + micros)
  }
  return sums
}

/** Counts the established connections of this machine to a loopback port, as the kernel lists them. */
export function connectionsTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const established = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , to, state]) => to?.endsWith(remote) && state === established).length
}
