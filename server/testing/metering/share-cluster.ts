import { countsRequest, isCounted, type Kind } from './cluster-budgets'
import { ShareStore } from './share-store'
import { sumEvents } from './sum-events'
import { createTestEvent } from '../ledger/event'
import { settled } from '../clock'
import { noTokens } from '../../src/metering/attempt-end'
import type { SpendingDemand } from '../../src/metering/budget'
import type { WindowReservation } from '../../src/metering/window-reservation'
import { SpendingLimits } from '../../src/metering/spending-limits'
import type { UsageEvent } from '../../src/ledger/usage-event'
import type { UsedBy, WindowSum, WindowSums } from '../../src/ledger/window-sums'
import type { WindowLimit } from '../../src/limits/caller-limits'
import { findWindow } from '../../src/platform/time-window'

const windowOf = ({ budget: terms }: WindowLimit, atMs: number) =>
  terms ? findWindow(terms.rule, atMs) : { fromMs: 0, toMs: Infinity }

/** A request that is admitted, and the tokens that it needs. */
interface Asked extends SpendingDemand {
  tokens?: SpendingDemand
  kind?: Kind
}

const usualKind: Kind = { model: 'fake/ok', budgetTags: null }

/** A request that runs. */
interface RunningRequest extends Kind {
  node: ClusterNode
  pass: WindowReservation
  held: bigint
  heldTokens: bigint
  admittedAtMs: number
  startedAt: string
}

/** The event of a request that ended. */
interface EndedRequest extends UsageEvent {
  node: ClusterNode
  admittedAtMs: number
}

/** The outcome of an exchange: `lost` is stored, and its answer never arrives. */
type Outcome = 'stored' | 'lost' | 'failed'

interface PendingExchange {
  node: ClusterNode
  run: (outcome: Outcome) => void
}

/** One node of a cluster. */
interface ClusterNode {
  id: string
  limits: SpendingLimits
  /** Added to the wall clock of the others. */
  skewMs: number
  isDead: boolean
}

/** Nodes that share limits through one database, whose exchanges run when a test calls for it, or at once. */
export class ShareCluster {
  readonly nodes: ClusterNode[] = []
  readonly running: RunningRequest[] = []
  readonly ended: EndedRequest[] = []
  readonly unbooked: EndedRequest[] = []
  readonly pending: PendingExchange[] = []
  readonly store: ShareStore
  /** Whether exchanges wait for the test. */
  isHeld = false
  /** The longest wait of a request for other nodes; time passes for all while one waits. */
  maxWaitMs = 1000
  wallMs = Date.UTC(2026, 1, 10)
  monotonicMs = 1_000_000
  readonly #limits: readonly WindowLimit[]
  readonly #booked: UsageEvent[] = []
  readonly #bookedIds = new Set<string>()
  #started = 0

  constructor(size: number, limits: readonly WindowLimit[]) {
    this.#limits = limits
    this.store = new ShareStore({
      sumOf: (usage) => this.#sumOf(usage),
      isBooked: (id) => this.#bookedIds.has(id),
      nowMs: () => this.wallMs,
      onRecall: (recall) => {
        for (const { limits: others } of this.nodes) others.onRecall(JSON.stringify(recall))
      },
    })
    for (let count = 0; count < size; count++) this.nodes.push(this.#start())
  }

  /** Ends a node without a word, and starts another one in its place. What it has charged is booked later. */
  crash(place: number): void {
    const at = place % this.nodes.length
    const node = this.nodes[at]
    if (!node) return
    node.isDead = true
    for (const request of this.running.filter((one) => one.node === node)) {
      this.running.splice(this.running.indexOf(request), 1)
    }
    this.nodes[at] = this.#start()
  }

  /** Sets the wall clock of a node ahead of the others, or back. */
  turn(place: number, skewMs: number): void {
    const node = this.nodes[place % this.nodes.length]
    if (node) node.skewMs = skewMs
  }

  /** Admits a request on a node, and holds as much of `full` as its limits allow; undefined where one refuses. */
  async ask(place: number, { full, floor, tokens, kind = usualKind }: Asked) {
    const node = this.nodes[place % this.nodes.length]
    if (!node) return undefined
    const windows = this.#limits.filter((limit) => countsRequest(limit, kind))
    const { userId = 'user_1', organizationId } = kind
    const caller = { userId, organizationId: organizationId ?? undefined, limits: { windows } }
    const pass = await Promise.try(() => node.limits.admit(caller)).catch(() => undefined)
    if (!pass) return undefined
    const admittedAtMs = this.wallOf(node)
    const taken = await take(pass, { full, floor }, tokens).catch(() => undefined)
    if (!taken || node.isDead) {
      pass.end()
      return undefined
    }
    const { held, heldTokens } = taken
    const startedAt = new Date(pass.heldAtMs ?? this.wallOf(node)).toISOString()
    const request = { ...kind, node, pass, held, heldTokens, admittedAtMs, startedAt }
    this.running.push(request)
    return request
  }

  /** Ends a running request at a cost, at most what it holds; undefined for one that counts nothing. */
  end(place: number, cost: bigint | undefined): void {
    if (this.running.length === 0) return
    const [request] = this.running.splice(place % this.running.length, 1)
    if (!request) return
    const { node, pass, held, heldTokens, admittedAtMs, startedAt, ...kind } = request
    pass.end()
    if (cost === undefined) return
    const output = Number(cost < heldTokens ? cost : heldTokens)
    const use = { cost: cost < held ? cost : held, tokens: { ...noTokens, output } }
    const event = createTestEvent('user_1', { ...kind, ...use, startedAt })
    node.limits.note(event)
    const ended = { ...event, node, admittedAtMs }
    this.ended.push(ended)
    this.unbooked.push(ended)
  }

  book(place: number): void {
    if (this.unbooked.length === 0) return
    const [event] = this.unbooked.splice(place % this.unbooked.length, 1)
    if (event) this.#book(event)
  }

  /** Books what nodes had charged that crashed: they have started again, and booked their journals. */
  bookCrashed(): void {
    const left = this.unbooked.filter(({ node }) => node.isDead)
    for (const event of left) {
      this.unbooked.splice(this.unbooked.indexOf(event), 1)
      this.#book(event)
    }
  }

  /** Runs one of the exchanges that wait. */
  async step(place: number, outcome: Outcome): Promise<void> {
    const [exchange] = this.pending.splice(place % Math.max(1, this.pending.length), 1)
    exchange?.run(outcome)
    await settled()
  }

  wallOf({ skewMs }: Pick<ClusterNode, 'skewMs'>): number {
    return this.wallMs + skewMs
  }

  /**
   * Counts for a limit in the window of a moment: charges of requests that began in it, what running ones hold, and
   * the number of those that were admitted in it as well.
   */
  countIn(limit: WindowLimit, atMs: number) {
    const { fromMs, toMs } = windowOf(limit, atMs)
    const isIn = (ms: number) => ms >= fromMs && ms < toMs
    const began = [...this.ended, ...this.running].filter(
      (one) => isIn(Date.parse(one.startedAt)) && countsRequest(limit, one),
    )
    const amounts = began.map((one) => ('cost' in one ? one.cost : one.held))
    const tokens = began.map((one) => ('cost' in one ? BigInt(one.tokens.output) : one.heldTokens))
    return {
      requests: began.filter(({ admittedAtMs }) => isIn(admittedAtMs)).length,
      spent: amounts.reduce((sum, amount) => sum + amount, 0n),
      tokens: tokens.reduce((sum, amount) => sum + amount, 0n),
    }
  }

  #book(event: UsageEvent): void {
    this.#booked.push(event)
    this.#bookedIds.add(event.id)
  }

  #sumOf({ subjectId, window: { fromMs, toMs }, ...of }: UsedBy): WindowSum {
    const own = this.#booked.filter((one) => {
      const ms = Date.parse(one.startedAt)
      const isOwn = of.payments !== undefined || [one.userId, one.keyId].includes(subjectId)
      return isOwn && isCounted(of, one) && ms >= fromMs && ms < toMs
    })
    return sumEvents(own)
  }

  #start(): ClusterNode {
    this.#started += 1
    const id = `node_${this.#started}`
    const clocks = () => ({ monotonicMs: this.monotonicMs, wallMs: this.wallOf(node) })
    const limits = new SpendingLimits({
      read: async ({ usedBy, unbooked }): Promise<WindowSums> => ({
        sums: new Map(usedBy.map((usage) => [usage.id, this.#sumOf(usage)])),
        bookedIds: unbooked().flatMap((event) => (this.#bookedIds.has(event.id) ? [event.id] : [])),
      }),
      now: () => this.monotonicMs,
      wallMs: () => this.wallOf(node),
      onError: () => undefined,
      shares: {
        nodeId: id,
        exchange: (usages, decide) =>
          new Promise((resolve, reject) => {
            const run = (outcome: Outcome) => {
              // A process that ended decides nothing more.
              if (node.isDead) return
              if (outcome !== 'failed') this.store.exchange(id, usages, decide)
              if (outcome === 'stored') resolve()
              else reject(new Error('no answer'))
            }
            if (this.isHeld) this.pending.push({ node, run })
            else run('stored')
          }),
        clocks,
        sleep: async (ms) => {
          this.monotonicMs += ms
          await settled()
        },
        withTimeout: (promise) => promise,
        maxWaitMs: () => this.maxWaitMs,
        onError: () => undefined,
      },
    })
    const node: ClusterNode = { id, limits, skewMs: 0, isDead: false }
    return node
  }
}

/** Takes tokens and money, in the same windows, as the gateway does; undefined where one is not covered. */
async function take(pass: WindowReservation, demand: SpendingDemand, ofTokens?: SpendingDemand) {
  const budget = ofTokens && pass.tokens
  for (;;) {
    const heldTokens = budget && ofTokens ? await budget.take(ofTokens) : 0n
    const held = typeof heldTokens === 'bigint' ? await pass.take(demand) : undefined
    if (typeof heldTokens !== 'bigint' || typeof held !== 'bigint') return undefined
    if (!budget || pass.heldAtMs === undefined || budget.wasTakenIn(pass.heldAtMs))
      return { held, heldTokens }
  }
}
