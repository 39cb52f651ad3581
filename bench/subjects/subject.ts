import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProvider, type Provider } from '../upstream/provider'

/** What a comparison found of the money of one gateway; a line a promise. */
export interface Verdict {
  promise: string
  holds: boolean
  found: string
}

/** One way from the load to the provider, ready to be measured. */
export interface Subject extends AsyncDisposable {
  /** Short, and a word: it names its rows in results. */
  name: string
  title: string
  /** Where the load connects, and which processes stand behind: the roots of their trees. */
  ports: number[]
  pids: number[]
  provider: Provider
  headers: Record<string, string>
  /** What the gateway calls a model of the provider. */
  modelOf: (model: string, isLeft: boolean) => string
  /** From its process's start to its first whole answer, in ms; the first start ever, if that differs. */
  startMs: number
  firstStartMs?: number
  /** Whether what was charged is what was used. `requests` is how many the load has sent. */
  verify?: (requests: number) => Promise<Verdict[]>
}

/** Why a subject is not there. */
export class Missing extends Error {}

export const freePort = (): number => {
  using probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  return probe.port
}

const patienceMs = 120_000

type Asked = Pick<Subject, 'name' | 'ports' | 'headers' | 'modelOf'>

/** Asks for one plain answer until it comes. Throws with the last refusal after two minutes. */
export async function firstAnswer(subject: Asked, isOver: () => boolean = () => false) {
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

/** How a gateway is run that is one program. */
export interface Program {
  name: string
  title: string
  /** Headers that it wants beside the key. */
  headers?: (provider: Provider) => Record<string, string>
  /** The command line for a port, a provider and a directory of its own; writes its configuration there. */
  command: (at: { port: number; provider: Provider; directory: string }) => Promise<string[]>
  environment?: (provider: Provider) => Record<string, string>
  /** What it calls a model; the same name unless told. */
  modelOf?: (model: string) => string
}

/** Starts a program with a provider of its own, and waits for its first answer. */
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
