import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProvider, type Provider } from '../upstream/provider'

/** The result of a money check on one gateway, one for each promise. */
export interface Verdict {
  promise: string
  holds: boolean
  found: string
}

/** A running path from the load to the provider, ready to be measured. */
export interface Subject extends AsyncDisposable {
  /** A short word that names its rows in results. */
  name: string
  title: string
  /** The ports of the load, and the root processes behind them. */
  ports: number[]
  pids: number[]
  provider: Provider
  headers: Record<string, string>
  /** Returns the gateway's name of a provider's model. */
  modelOf: (model: string, isAborted: boolean) => string
  /** Time from its process's start to its first complete answer, in ms; the first start ever, if that differs. */
  startMs: number
  firstStartMs?: number
  /** Checks that the charges match the usage. `requests` is the number sent by the load. */
  verify?: (requests: number) => Promise<Verdict[]>
}

/** A subject is unavailable, with the reason. */
export class Missing extends Error {}

export const freePort = (): number => {
  using probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  return probe.port
}

const patienceMs = 120_000

type BenchRequest = Pick<Subject, 'name' | 'ports' | 'headers' | 'modelOf'>

/** Retries a plain request until it succeeds. Throws with the last failure after two minutes. */
export async function firstAnswer(subject: BenchRequest, isOver: () => boolean = () => false) {
  const deadline = performance.now() + patienceMs
  const body = JSON.stringify({
    model: subject.modelOf('plain', false),
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  for (let last = 'nothing listens'; ; await Bun.sleep(5)) {
    try {
      const response = await fetch(`http://127.0.0.1:${subject.ports[0]}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...subject.headers, 'content-type': 'application/json' },
        body,
      })
      if (response.ok) return void (await response.text())
      last = `${response.status} ${(await response.text()).slice(0, 300)}`
    } catch {
      // Not yet.
    }
    if (isOver() || performance.now() > deadline) {
      throw new Missing(`${subject.name} does not answer: ${last}`)
    }
  }
}

/** The start of a gateway that is one program. */
export interface Program {
  name: string
  title: string
  /** Headers that it requires beside the key. */
  headers?: (provider: Provider) => Record<string, string>
  /** Returns the command line for a port, a provider and its own directory; writes its configuration there. */
  command: (at: { port: number; provider: Provider; directory: string }) => Promise<string[]>
  environment?: (provider: Provider) => Record<string, string>
  /** Its name of a model; the provider's by default. */
  modelOf?: (model: string) => string
}

/** Starts a program with its own provider, and waits for its first answer. */
export async function startProgram(program: Program): Promise<Subject> {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startProvider())
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const port = freePort()
  const command = await program.command({ port, provider, directory })
  const { PATH = '', HOME = '' } = process.env
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    cwd: directory,
    env: { PATH, HOME, ...program.environment?.(provider) },
    stdout: Bun.file(join(directory, 'output.txt')),
    stderr: Bun.file(join(directory, 'errors.txt')),
  })
  stack.defer(async () => {
    child.kill()
    await Promise.race([child.exited, Bun.sleep(10_000)])
    child.kill('SIGKILL')
  })
  const { modelOf = (model: string) => model } = program
  const headers = { authorization: 'Bearer sk-bench', ...program.headers?.(provider) }
  const { name, title } = program
  const subject = { name, title, ports: [port], pids: [child.pid], provider, headers, modelOf }
  try {
    await firstAnswer(subject, () => child.exitCode !== null)
  } catch (thrown) {
    const errors = await Bun.file(join(directory, 'errors.txt')).text()
    const [last = ''] = errors.trim().split('\n').slice(-1)
    throw thrown instanceof Missing ? new Missing(`${thrown.message}. ${last}`.trim()) : thrown
  }
  const startMs = performance.now() - startedAt
  const all = stack.move()
  return { ...subject, startMs, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
