import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { shortened } from '../text'

export interface ProcessSettings {
  command: string
  args: readonly string[]
  /** The whole environment: nothing else is inherited. */
  environment: Readonly<Record<string, string>>
}

/** Bytes of one message. */
const maxLineBytes = 8 * 1024 * 1024
const maxErrorLength = 500
/** Time for a process to exit by itself, then after the signal. */
const politeMs = 1000
const stderrTailMs = 200

/**
 * A tool server as a child process: messages are lines of JSON on its input and output. The SDK's own transport
 * ends only the process that it started; with npx or a shell that is not the server itself, so this one
 * ends the whole process group.
 */
export class ToolProcess implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #settings: ProcessSettings
  #child: ChildProcessWithoutNullStreams | undefined
  #exited: Promise<void> = Promise.resolve()
  #line: Buffer[] = []
  #lineBytes = 0
  #stderrTail = ''
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(settings: ProcessSettings) {
    this.#settings = settings
  }

  /** The last output on its standard error. */
  get stderrTail(): string {
    return shortened(this.#stderrTail)
  }

  /** Rejects where the command cannot be run. */
  async start(): Promise<void> {
    if (this.#closing) throw new Error('the tool server was closed')
    const { command, args, environment } = this.#settings
    const child = spawn(command, [...args], {
      env: { ...environment },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#exited = new Promise((resolveExit) => {
      child.once('exit', () => resolveExit())
      child.once('error', () => resolveExit())
    })
    child.once('spawn', resolve)
    child.once('error', (cause) => reject(new Error(`${command} cannot be run`, { cause })))
    child.once('close', () => this.#ended())
    // Its last output may still arrive; orphaned children may keep its pipes open forever.
    child.once('exit', () => setTimeout(() => this.#ended(), stderrTailMs))
    child.stdin.on('error', () => undefined)
    child.stdout.on('data', (bytes: Buffer) => this.#receive(bytes))
    child.stderr.on('data', (bytes: Buffer) => {
      this.#stderrTail = (this.#stderrTail + bytes.toString()).slice(-maxErrorLength)
    })
    await promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stdin = this.#child?.stdin
    if (!stdin || this.#isClosed) throw new Error('the tool server has exited')
    stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    await promise
  }

  /** Resolves when it has exited, by force if need be. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const child = this.#child
    if (!child) return this.#ended()
    child.stdin.end()
    if (!(await this.#exitedWithin(politeMs))) {
      this.#signal('SIGTERM')
      if (!(await this.#exitedWithin(politeMs))) this.#signal('SIGKILL')
    }
    await this.#exitedWithin(politeMs)
    // Children that it left behind.
    this.#signal('SIGKILL')
    this.#ended()
  }

  async #exitedWithin(ms: number): Promise<boolean> {
    return Promise.race([this.#exited.then(() => true), Bun.sleep(ms).then(() => false)])
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const id = this.#child?.pid
    if (id === undefined) return
    try {
      process.kill(-id, signal)
    } catch {
      // The process group is empty.
    }
  }

  #ended(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#line = []
    this.onclose?.()
  }

  #receive(bytes: Buffer): void {
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0 && !this.#isClosed; end = bytes.indexOf(10, start)) {
      const line = Buffer.concat([...this.#line, bytes.subarray(start, end)]).toString()
      this.#line = []
      this.#lineBytes = 0
      start = end + 1
      this.#take(line)
    }
    const remainder = bytes.subarray(start)
    if (remainder.length === 0 || this.#isClosed) return
    this.#lineBytes += remainder.length
    if (this.#lineBytes > maxLineBytes) {
      this.#stderrTail = 'it wrote a line without end'
      this.#signal('SIGKILL')
      return this.#ended()
    }
    this.#line.push(remainder)
  }

  #take(line: string): void {
    if (line.trim() === '') return
    try {
      // The client validates it.
      this.onmessage?.(JSON.parse(line))
    } catch (thrown) {
      // Many servers print other lines than messages; those are ignored.
      this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
}
