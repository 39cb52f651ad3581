import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../../..')

/** Runs `tollgate connect` by way of the launcher. */
export class RunningConnect implements AsyncDisposable {
  out = ''
  err = ''
  readonly #child
  readonly #read: Promise<unknown>

  /** `through`: the command that runs it, elsewhere perhaps. */
  constructor(
    args: readonly string[],
    environment: Record<string, string> = {},
    through: readonly string[] = [],
  ) {
    this.#child = Bun.spawn([...through, 'node', 'bin/tollgate.mjs', 'connect', ...args], {
      cwd: root,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        TOLLGATE_BUN: process.execPath,
        ...environment,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.#read = Promise.all([this.#take('out'), this.#take('err')])
  }

  /** All that it said. */
  get output(): string {
    return this.out + this.err
  }

  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void {
    this.#child.kill(name)
  }

  /** The process of the agent itself, which the launcher has started. */
  get agentPid(): number {
    const { pid } = this.#child
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return Number(/\d+/.exec(children)?.[0])
  }

  /** The exit code, once it has ended and was heard to its end. */
  async ended(): Promise<number> {
    await this.#read
    return this.#child.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#child.exited
  }

  async #take(name: 'out' | 'err'): Promise<void> {
    const stream = name === 'out' ? this.#child.stdout : this.#child.stderr
    for await (const bytes of stream) this[name] += new TextDecoder().decode(bytes)
  }
}
