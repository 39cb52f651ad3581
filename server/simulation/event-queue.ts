/** An event at a simulated moment. */
export interface SimulatedEvent {
  atMs: number
  /** Breaks ties: events of one moment run in the order in which they were scheduled. */
  order: number
}

const isBefore = (a: SimulatedEvent, b: SimulatedEvent) =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A binary heap of events, earliest first. */
export class EventQueue<Event extends SimulatedEvent> {
  readonly #heap: Event[] = []

  get size(): number {
    return this.#heap.length
  }

  get first(): Event | undefined {
    return this.#heap[0]
  }

  push(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = heap[parentAt]
      if (!parent || isBefore(parent, event)) break
      heap[at] = parent
      at = parentAt
    }
    heap[at] = event
  }

  /** Removes and returns the earliest event; undefined when there is none. */
  pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      const left = heap[2 * at + 1]
      const right = heap[2 * at + 2]
      const isRight = left !== undefined && right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (!child || isBefore(last, child)) break
      heap[at] = child
      at = 2 * at + (isRight ? 2 : 1)
    }
    heap[at] = last
    return first
  }
}
