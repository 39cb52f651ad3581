import type { FromLauncher, FromWorker } from './messages'

/** Returns whether the worker was there. */
type Send = (message: FromLauncher) => boolean

interface StoredText {
  text: string
  expiresAtMs: number
}

/** The time after which a text that no worker took is dropped; and how much is stored at most, in UTF-16 units. */
const lifeMs = 30_000
const maxStored = 64 * 1024 * 1024

/** Passes messages of self-hosted gateways between the workers of one launcher. */
export class WorkerRelay {
  readonly #now: () => number
  readonly #sendTo = new Map<string, Send>()
  /** In the order of their expiry. */
  readonly #texts = new Map<string, StoredText>()
  #stored = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Handles a message of a worker; `send` answers it. Other kinds are left out. */
  onMessage(message: FromWorker, send: Send): void {
    switch (message.kind) {
      case 'node':
        this.#sendTo.set(message.node, send)
        return
      case 'publish':
        send(reply(message.id, this.#publish(message)))
        return
      case 'put':
        send(reply(message.id, this.#put(message)))
        return
      case 'take':
        send(reply(message.id, this.#take(message.key)))
        return
      case 'drop':
        this.#take(message.key)
        return
      default:
    }
  }

  /** The process behind `send` has ended. */
  onEnd(send: Send): void {
    for (const [node, its] of this.#sendTo) if (its === send) this.#sendTo.delete(node)
  }

  #publish({ node, text }: { node: string; text: string }): boolean {
    return this.#sendTo.get(node)?.({ kind: 'message', text }) ?? false
  }

  #put({ key, text }: { key: string; text: string }): boolean {
    const nowMs = this.#now()
    for (const [old, { expiresAtMs }] of this.#texts) {
      if (expiresAtMs > nowMs) break
      this.#take(old)
    }
    this.#take(key)
    if (this.#stored + text.length > maxStored) return false
    this.#texts.set(key, { text, expiresAtMs: nowMs + lifeMs })
    this.#stored += text.length
    return true
  }

  #take(key: string): string | undefined {
    const stored = this.#texts.get(key)
    if (!stored) return undefined
    this.#texts.delete(key)
    this.#stored -= stored.text.length
    return stored.expiresAtMs > this.#now() ? stored.text : undefined
  }
}

const reply = (id: number, value: unknown): FromLauncher => ({ kind: 'reply', id, value })
