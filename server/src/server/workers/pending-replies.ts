import { withTimeout } from '../../platform/with-timeout'

/** Messages that wait for the reply with their id. */
export class PendingReplies {
  readonly #pending = new Map<number, (value: unknown) => void>()
  #last = 0

  /** Sends a message with a new id; resolves with its reply, or with undefined after `maxMs`. Never rejects. */
  async ask(send: (id: number) => void, maxMs: number): Promise<unknown> {
    this.#last += 1
    const id = this.#last
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#pending.set(id, resolve)
    try {
      send(id)
      return await withTimeout(promise, maxMs)
    } catch {
      return undefined
    } finally {
      this.#pending.delete(id)
    }
  }

  onReply({ id, value }: { id: number; value: unknown }): void {
    this.#pending.get(id)?.(value)
  }

  /** Resolves all with undefined: their other end is gone. */
  endAll(): void {
    for (const resolve of this.#pending.values()) resolve(undefined)
  }
}
