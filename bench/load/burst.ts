import type { Socket } from 'bun'
import { Answer } from './answer'
import { Numbers } from './numbers'
import type { Outcome, Plan, Times } from './plan'

/** One connection and its pending answer. */
interface Lane {
  port: number
  socket: Socket<Lane> | undefined
  answer: Answer | undefined
  /** The unwritten rest of the request. */
  unsent: Buffer | undefined
  sentAt: number
  firstByteAt: number
  /** The number of events after which the client abandons this answer; infinite where it does not. */
  disconnectsAfter: number
  rests: boolean
}

/** The numbers of events after which clients disconnect, in turn. */
const disconnectsAfter = [3, 17, 41, 60]

/** Sends one request a connection at a time, the next as soon as an answer is complete. */
export class Burst {
  readonly #plan: Plan
  readonly #request: Buffer
  readonly #complete = new Numbers()
  readonly #firstByte = new Numbers()
  readonly #outcome = { finished: 0, disconnected: 0, cut: 0, events: 0, failure: '' }
  readonly #failed: Record<string, number> = {}
  readonly #over = Promise.withResolvers<void>()
  readonly #startedAt = performance.now()
  readonly #endsAt: number
  #lanes: Lane[] = []
  #busy = 0
  #sent = 0
  #lastAt = 0

  constructor(plan: Plan) {
    this.#plan = plan
    this.#request = Buffer.from(plan.request)
    this.#endsAt = this.#startedAt + plan.seconds * 1000
  }

  async run(): Promise<Outcome> {
    const { ports, connections, seconds, patienceSeconds } = this.#plan
    this.#lanes = Array.from({ length: connections }, (_, index) => ({
      port: ports[index % ports.length] ?? 0,
      socket: undefined,
      answer: undefined,
      unsent: undefined,
      sentAt: 0,
      firstByteAt: 0,
      disconnectsAfter: Number.POSITIVE_INFINITY,
      rests: false,
    }))
    this.#busy = connections
    for (const lane of this.#lanes) void this.#connect(lane)
    const cutting = setTimeout(() => this.#cut(), (seconds + patienceSeconds) * 1000)
    await this.#over.promise
    clearTimeout(cutting)
    for (const { socket } of this.#lanes) socket?.terminate()
    return {
      ...this.#outcome,
      failed: this.#failed,
      seconds: (this.#lastAt - this.#startedAt) / 1000,
      complete: timesOf(this.#complete),
      firstByte: timesOf(this.#firstByte),
    }
  }

  async #connect(lane: Lane): Promise<void> {
    try {
      lane.socket = await Bun.connect<Lane>({
        hostname: '127.0.0.1',
        port: lane.port,
        data: lane,
        socket: {
          data: (_socket, bytes) => this.#take(lane, bytes),
          drain: () => this.#send(lane),
          close: (socket) => this.#closed(lane, socket),
          error: () => undefined,
        },
      })
      lane.socket.setNoDelay(true)
      this.#begin(lane)
    } catch {
      this.#fail('connection', 'refused')
      this.#rest(lane)
    }
  }

  #begin(lane: Lane): void {
    const now = performance.now()
    if (now >= this.#endsAt) return this.#rest(lane)
    const { leaveEvery } = this.#plan
    const isLeaving = leaveEvery > 0 && ++this.#sent % leaveEvery === 0
    const which = (this.#sent / (leaveEvery || 1)) % disconnectsAfter.length
    lane.disconnectsAfter = isLeaving ? (disconnectsAfter[which] ?? 3) : Number.POSITIVE_INFINITY
    lane.answer = new Answer()
    lane.sentAt = now
    lane.firstByteAt = 0
    lane.unsent = this.#request
    this.#send(lane)
  }

  #send(lane: Lane): void {
    if (!lane.unsent || !lane.socket) return
    const sent = Math.max(0, lane.socket.write(lane.unsent))
    lane.unsent = sent === lane.unsent.length ? undefined : lane.unsent.subarray(sent)
  }

  #take(lane: Lane, bytes: Buffer): void {
    const { answer } = lane
    if (!answer) return
    if (lane.firstByteAt === 0) lane.firstByteAt = performance.now()
    if (answer.take(bytes) === 'whole') return this.#finish(lane, answer)
    if (answer.events < lane.disconnectsAfter) return
    this.#outcome.disconnected++
    this.#outcome.events += answer.events
    this.#reconnect(lane)
  }

  #finish(lane: Lane, answer: Answer): void {
    const now = performance.now()
    this.#lastAt = now
    lane.answer = undefined
    if (answer.status === 200) {
      this.#outcome.finished++
      this.#outcome.events += answer.events
      this.#complete.add(now - lane.sentAt)
      this.#firstByte.add(lane.firstByteAt - lane.sentAt)
    } else {
      this.#fail(String(answer.status), answer.beginning)
    }
    this.#begin(lane)
  }

  #fail(what: string, message: string): void {
    this.#failed[what] = (this.#failed[what] ?? 0) + 1
    this.#outcome.failure ||= `${what}: ${message}`
  }

  #reconnect(lane: Lane): void {
    const { socket } = lane
    lane.socket = undefined
    lane.answer = undefined
    socket?.end()
    if (performance.now() < this.#endsAt) void this.#connect(lane)
    else this.#rest(lane)
  }

  /** Handles a close by the server: a failure during an answer, legitimate between two. */
  #closed(lane: Lane, socket: Socket<Lane>): void {
    if (lane.socket !== socket || lane.rests) return
    if (lane.answer) this.#fail('connection', 'closed in the middle of an answer')
    // A server that closes at once would be reconnected to forever.
    setTimeout(() => this.#reconnect(lane), 5)
  }

  #rest(lane: Lane): void {
    lane.answer = undefined
    lane.rests = true
    this.#busy -= 1
    if (this.#busy === 0) this.#over.resolve()
  }

  #cut(): void {
    this.#lastAt = performance.now()
    for (const lane of this.#lanes) {
      lane.rests = true
      if (!lane.answer) continue
      this.#outcome.cut++
      this.#outcome.events += lane.answer.events
    }
    this.#over.resolve()
  }
}

function timesOf(numbers: Numbers): Times {
  const [p50 = Number.NaN, p99 = Number.NaN] = numbers.at(0.5, 0.99)
  return { p50, p99 }
}
