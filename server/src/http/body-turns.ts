interface Waiting {
  share: { readonly owner: string; readonly bytes: number }
}

/**
 * Who waits for room, in the order in which they get it: bodies that have a part of it already before those that
 * have nothing; of each kind one of every owner, then the next of each, so that nobody waits for all that
 * another one has sent.
 */
export class BodyTurns<One extends Waiting> {
  readonly #kinds = { growing: new Turns<One>(), fresh: new Turns<One>() }

  get size(): number {
    return this.#kinds.growing.size + this.#kinds.fresh.size
  }

  add(waiting: One): void {
    this.#kindOf(waiting).add(waiting)
  }

  /** A list of its own: it stays as it is while some of them are served or dropped. */
  inOrder(): One[] {
    if (this.size === 0) return []
    return [...this.#kinds.growing.inOrder(), ...this.#kinds.fresh.inOrder()]
  }

  ofOwner(owner: string): One[] {
    return [...this.#kinds.growing.ofOwner(owner), ...this.#kinds.fresh.ofOwner(owner)]
  }

  /** It has what it waited for; its owner comes after the others. To be told before its share grows. */
  served(waiting: One): void {
    this.#kindOf(waiting).served(waiting)
  }

  drop(waiting: One): void {
    this.#kindOf(waiting).drop(waiting)
  }

  #kindOf({ share }: One): Turns<One> {
    return share.bytes > 0 ? this.#kinds.growing : this.#kinds.fresh
  }
}

/** The lists of owners; the owner whose turn is next comes first. */
class Turns<One extends Waiting> {
  readonly #lists = new Map<string, One[]>()
  size = 0

  add(waiting: One): void {
    const list = this.#lists.get(waiting.share.owner)
    this.size += 1
    if (list) list.push(waiting)
    else this.#lists.set(waiting.share.owner, [waiting])
  }

  inOrder(): One[] {
    const order: One[] = []
    for (let rank = 0; order.length < this.size; rank++) {
      for (const list of this.#lists.values()) {
        const waiting = list[rank]
        if (waiting) order.push(waiting)
      }
    }
    return order
  }

  ofOwner(owner: string): readonly One[] {
    return this.#lists.get(owner) ?? []
  }

  served(waiting: One): void {
    const { owner } = waiting.share
    this.drop(waiting)
    const rest = this.#lists.get(owner)
    if (!rest) return
    this.#lists.delete(owner)
    this.#lists.set(owner, rest)
  }

  drop(waiting: One): void {
    const { owner } = waiting.share
    const list = this.#lists.get(owner) ?? []
    const rest = list.filter((other) => other !== waiting)
    this.size -= list.length - rest.length
    if (rest.length > 0) this.#lists.set(owner, rest)
    else this.#lists.delete(owner)
  }
}
