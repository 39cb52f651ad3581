import type { Socket } from 'bun'

/** The caller closed the connection; ends the behaviour that was answering it. */
export class PeerGone extends Error {
  constructor() {
    super('The caller closed the connection.')
    this.name = 'PeerGone'
  }
}

/** Who ended a connection: this provider, or the program that called it. */
export type Closer = 'us' | 'peer'

/** One accepted socket, written to with the caller's own pace. Times are milliseconds since 1970. */
export class Connection {
  readonly connectedAt = Date.now()
  closedAt: number | null = null
  closedBy: Closer | null = null
  /** What to do with the next request instead of answering it. */
  closesOnNextRequest = false
  readonly #socket: Socket<unknown>
  #queue: Buffer[] = []
  #drained: PromiseWithResolvers<void> | undefined
  #asleep: { timer: Timer | undefined; wake: PromiseWithResolvers<void> } | undefined

  constructor(socket: Socket<unknown>) {
    this.#socket = socket
    // Writes are the cuts a test asked for; the kernel must not glue them together.
    socket.setNoDelay(true)
  }

  get isOpen(): boolean {
    return this.closedBy === null
  }

  /** Sends exactly these bytes; resolves when the kernel has them. Throws `PeerGone`. */
  write(data: string | Uint8Array): Promise<void> | undefined {
    if (!this.isOpen) throw new PeerGone()
    const bytes =
      typeof data === 'string'
        ? Buffer.from(data)
        : Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    if (this.#drained) {
      this.#queue.push(bytes)
      return this.#drained.promise
    }
    const sent = Math.max(0, this.#socket.write(bytes))
    if (sent === bytes.length) return undefined
    this.#queue.push(bytes.subarray(sent))
    this.#drained = Promise.withResolvers()
    // Not every writer waits; one that does sees the rejection all the same.
    this.#drained.promise.catch(() => undefined)
    return this.#drained.promise
  }

  /** The socket has room again: called by its owner. */
  drain(): void {
    for (let bytes = this.#queue[0]; bytes; bytes = this.#queue[0]) {
      const sent = Math.max(0, this.#socket.write(bytes))
      if (sent < bytes.length) {
        this.#queue[0] = bytes.subarray(sent)
        return
      }
      this.#queue.shift()
    }
    this.#drained?.resolve()
    this.#drained = undefined
  }

  /** Waits `ms`, for ever when it is infinite; throws `PeerGone` as soon as the caller leaves. */
  async sleep(ms: number): Promise<void> {
    if (!this.isOpen) throw new PeerGone()
    const wake = Promise.withResolvers<void>()
    const timer = Number.isFinite(ms) ? setTimeout(() => wake.resolve(), ms) : undefined
    this.#asleep = { timer, wake }
    await wake.promise
    this.#asleep = undefined
  }

  /** Lets the event loop turn once, for writers that would never yield by themselves. */
  async turn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (!this.isOpen) throw new PeerGone()
  }

  /** Closes as an orderly server does, with a FIN after everything written. */
  close(): void {
    if (!this.isOpen) return
    this.markClosed('us')
    this.#socket.end()
  }

  /** Closes with a reset: the caller loses even what it has received but not read. */
  reset(): void {
    if (!this.isOpen) return
    this.markClosed('us')
    this.#socket.terminate()
  }

  /** Notes the end of the connection, wakes its waiters. The first call counts. */
  markClosed(by: Closer): void {
    if (this.closedBy !== null) return
    this.closedBy = by
    this.closedAt = Date.now()
    this.#drained?.reject(new PeerGone())
    this.#asleep?.wake.reject(new PeerGone())
    clearTimeout(this.#asleep?.timer)
  }
}
