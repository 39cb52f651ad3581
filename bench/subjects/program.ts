import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProvider, type Provider } from '../upstream/provider'
import type { Governance } from './governance'
import { startServices, type Services } from './services'
import { firstAnswer, freePort, Missing, type Subject } from './subject'

/** The port, provider, directory and services of a program. */
export interface Place extends Services {
  port: number
  provider: Provider
  /** Its own directory, empty at first. */
  directory: string
}

type Environment = Record<string, string>

/** The start of a gateway that is one program. */
export interface Program {
  name: string
  title: string
  governance?: Governance
  /** The services that it stores its data in. */
  services?: readonly ('PostgreSQL' | 'Redis')[]
  /** Headers that it requires beside the key. */
  headers?: (place: Place) => Record<string, string>
  /** Writes its configuration into its directory, and returns the command line. */
  command: (place: Place) => Promise<string[]>
  environment?: (place: Place) => Environment
  /** Creates an API key, and returns the `authorization` that sends it. Throws as long as the program does not answer. */
  createKey?: (place: Place) => Promise<string>
  /** Its name of a model; the provider's by default. */
  modelOf?: (model: string) => string
}

const patienceMs = 60_000

/** Repeats a step of the start until it succeeds. Throws Missing after a minute, or once the program has exited. */
async function retry<T>(step: () => Promise<T>, isOver: () => boolean): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return await step()
    } catch (thrown) {
      if (isOver() || performance.now() > deadline) throw new Missing(String(thrown))
      await Bun.sleep(50)
    }
  }
}

/** Spawns a program that is stopped with the stack. */
async function spawn(program: Program, place: Place, stack: AsyncDisposableStack) {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn(await program.command(place), {
    cwd: place.directory,
    env: { PATH, HOME, ...program.environment?.(place) },
    stdout: Bun.file(join(place.directory, 'output.txt')),
    stderr: Bun.file(join(place.directory, 'errors.txt')),
  })
  stack.defer(async () => {
    child.kill()
    await Promise.race([child.exited, Bun.sleep(10_000)])
    child.kill('SIGKILL')
    await child.exited
  })
  return child
}

/** Returns the last line of what a program wrote to its standard error. */
async function lastError(directory: string): Promise<string> {
  const errors = await Bun.file(join(directory, 'errors.txt')).text()
  const [last = ''] = errors.trim().split('\n').slice(-1)
  return last
}

/** Starts a program with its own provider and services, and waits for its first answer. */
export async function startProgram(program: Program): Promise<Subject> {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startProvider())
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const services = await startServices(stack, program.services ?? [])
  const place: Place = { port: freePort(), provider, directory, ...services }
  const { name, title, governance, createKey, modelOf = (model: string) => model } = program
  const startedAt = performance.now()
  const child = await spawn(program, place, stack)
  const isOver = () => child.exitCode !== null
  const subject = {
    name,
    title,
    ...(governance && { governance }),
    ports: [place.port],
    pids: [child.pid, ...services.pids],
    provider,
    headers: { authorization: 'Bearer sk-bench', ...program.headers?.(place) },
    modelOf,
  }
  try {
    if (createKey) {
      const authorization = await retry(() => createKey(place), isOver)
      subject.headers = { ...subject.headers, authorization }
    }
    await firstAnswer(subject, isOver)
  } catch (thrown) {
    if (!(thrown instanceof Missing)) throw thrown
    throw new Missing(`${thrown.message}. ${await lastError(directory)}`.trim())
  }
  const startMs = performance.now() - startedAt
  const all = stack.move()
  return { ...subject, startMs, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
