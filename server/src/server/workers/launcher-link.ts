import { isFromLauncher, type FromLauncher, type FromWorker, type WorkerQuestion } from './messages'
import type { SettledRange } from '../../journal/settled-range'
import { PendingReplies } from './pending-replies'
import { aliveEveryMs } from './worker-watch'
import { Periodic } from '../../platform/periodic'
import { generateIdBody } from '../../platform/db/id'
import type { TunnelChannel, TunnelChannelEvents } from '../../tunnel/remote-tunnel-relay'

/** The longest waits for the launcher, for a message and for a batch of the ledger. Milliseconds. */
const maxReplyMs = 5000
const maxBookingMs = 20_000

interface LinkEvents {
  /** The launcher wants the first screen printed. */
  onGreeting: () => void
  /** Answers the launcher with what it can transfer. */
  answer: (about: WorkerQuestion) => Promise<unknown>
}

/** A worker's end of the messages between it and its launcher. */
export class LauncherLink {
  readonly #replies = new PendingReplies()
  #events: LinkEvents | undefined
  #channel: LauncherChannel | undefined

  constructor() {
    process.on('message', (message) => {
      if (isFromLauncher(message)) this.#onMessage(message)
    })
    process.once('disconnect', () => {
      this.#replies.endAll()
      this.#channel?.onDisconnect()
    })
  }

  /** Reports that this worker listens, and from then on each second that it lives. */
  start(port: number, events: LinkEvents): void {
    this.#events = events
    this.#send({ kind: 'listening', port })
    const beating = new Periodic({
      intervalMs: aliveEveryMs,
      run: () => this.#send({ kind: 'alive' }),
    })
    process.once('disconnect', () => beating.stop())
  }

  /** Opens the channel to the other workers of this launcher, as that over Redis (`platform/db/node-channel.ts`). */
  openChannel(node: string, events: TunnelChannelEvents): TunnelChannel {
    const send = (message: FromWorker) => this.#send(message)
    const ask = (toMessage: (id: number) => FromWorker) =>
      this.#replies.ask((id) => send(toMessage(id)), maxReplyMs)
    this.#channel = new LauncherChannel(events, { send, ask })
    send({ kind: 'node', node })
    return this.#channel
  }

  /** Has the launcher book rows of this worker's journal. Resolves with its reply, undefined without one. */
  book(range: SettledRange): Promise<unknown> {
    return this.#replies.ask((id) => this.#send({ kind: 'book', id, range }), maxBookingMs)
  }

  #send(message: FromWorker): void {
    // Without a launcher this worker ends anyway.
    if (process.connected) process.send?.(message)
  }

  #onMessage(message: FromLauncher): void {
    switch (message.kind) {
      case 'greet':
        return this.#events?.onGreeting()
      case 'message':
        return this.#channel?.onMessage(message.text)
      case 'reply':
        return this.#replies.onReply(message)
      case 'ask':
        void this.#answer(message)
    }
  }

  /** An answer that fails is none: the launcher does not wait for it for long. */
  async #answer({ id, about }: { id: number; about: WorkerQuestion }): Promise<void> {
    const value = await this.#events?.answer(about).catch(() => undefined)
    this.#send({ kind: 'reply', id, value })
  }
}

interface ChannelPorts {
  send: (message: FromWorker) => void
  /** Resolves with undefined where the launcher does not answer in time. */
  ask: (toMessage: (id: number) => FromWorker) => Promise<unknown>
}

class LauncherChannel implements TunnelChannel {
  readonly #events: TunnelChannelEvents
  readonly #ports: ChannelPorts
  readonly epoch = generateIdBody()
  isOpen = true

  constructor(events: TunnelChannelEvents, ports: ChannelPorts) {
    this.#events = events
    this.#ports = ports
  }

  onMessage(text: string): void {
    if (this.isOpen) this.#events.onMessage(text)
  }

  onDisconnect(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#events.onGap()
  }

  async publish(node: string, text: string): Promise<boolean> {
    return (await this.#ports.ask((id) => ({ kind: 'publish', id, node, text }))) === true
  }

  async put(key: string, text: string): Promise<boolean> {
    return (await this.#ports.ask((id) => ({ kind: 'put', id, key, text }))) === true
  }

  async take(key: string): Promise<string | undefined> {
    const text = await this.#ports.ask((id) => ({ kind: 'take', id, key }))
    return typeof text === 'string' ? text : undefined
  }

  drop(key: string): void {
    this.#ports.send({ kind: 'drop', key })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isOpen = false
  }
}
