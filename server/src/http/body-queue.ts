interface Waiting {
  share: { readonly owner: string; readonly bytes: number }
}

/**
 * Orders bodies that wait for room fairly: those that already hold a part come before those that hold nothing;
 * within each kind, one of every owner in turn, so that no owner waits for all bodies of another.
 */
export class BodyQueue<One extends Waiting> {
  readonly #kinds = { growing: new FairQueue<One>(), fresh: new FairQueue<One>() }

  get size(): number {
    return this.#kinds.growing.size + this.#kinds.fresh.size
  }

  add(waiting: One): void {
    this.#kindOf(waiting).add(waiting)
  }

  /** Returns a copy of the order: it stays unchanged while bodies are served or dropped. */
  inOrder(): One[] {
    if (this.size === 0) return []
    return [...this.#kinds.growing.inOrder(), ...this.#kinds.fresh.inOrder()]
  }

  ofOwner(owner: string): One[] {
    return [...this.#kinds.growing.ofOwner(owner), ...this.#kinds.fresh.ofOwner(owner)]
  }

  /** Removes a served body and moves its owner to the end. Must be called before its share grows. */
  served(waiting: One): void {
    this.#kindOf(waiting).served(waiting)
  }

  drop(waiting: One): void {
    this.#kindOf(waiting).drop(waiting)
  }

  #kindOf({ share }: One): FairQueue<One> {
    return share.bytes > 0 ? this.#kinds.growing : this.#kinds.fresh
  }
}

/** A list per owner; the next owner in turn comes first. */
class FairQueue<One extends Waiting> {
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
    const remaining = this.#lists.get(owner)
    if (!remaining) return
    this.#lists.delete(owner)
    this.#lists.set(owner, remaining)
  }

  drop(waiting: One): void {
    const { owner } = waiting.share
    const list = this.#lists.get(owner) ?? []
    const remaining = list.filter((other) => other !== waiting)
    this.size -= list.length - remaining.length
    if (remaining.length > 0) this.#lists.set(owner, remaining)
    else this.#lists.delete(owner)
  }
}
