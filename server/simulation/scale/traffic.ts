import type { DecisionLog } from './decision-log'
import type { LimitKind, Population } from './population'
import type { ScaleProfile } from './profile'
import type { RegionalNode, ServingNode } from './regional-node'
import type { RequestEnd } from './traffic-figures'
import type { AccountObserver, PendingRequest } from '../accounts'
import { SimulatedNode } from '../node'
import type { Random } from '../random'
import type { Scheduler } from '../scheduler'
import { ApiError } from '../../src/errors'
import { InsufficientCredit } from '../../src/ledger/credit-demand'
import type { Hold } from '../../src/ledger/local-lease'
import type { Admission } from '../../src/limits/limits'
import type { ReferenceEvent } from '../../testing/ledger/reference-ledger'

/** `MINIMUM_BALANCE_USD` by default. */
const minimum = 100_000_000n
/** The worst case of a request, in nano-dollars, and the time of its provider in milliseconds: log-uniform. */
const holds = { min: 500_000, max: 50_000_000 }
const durationsMs = { min: 200, max: 20_000 }
const tokens = { min: 200, max: 8000 }
const lowerableShare = 0.5

/** A request on its way. */
export interface RunningRequest {
  id: string
  account: number
  node: RegionalNode
  serving: ServingNode
  atMs: number
}

export interface TrafficPorts {
  scheduler: Scheduler
  random: Random
  profile: ScaleProfile
  population: Population
  observer: AccountObserver
  log: DecisionLog
  newId: (prefix: string) => string
  /** Returns the node at which a request of an account arrives; undefined where none answers. */
  route: (account: number) => RegionalNode | undefined
  onHold: (hold: Hold) => void
  onRefused: (pending: PendingRequest) => void
  onSettled: (event: ReferenceEvent) => void
  /** Called when an answered request is in the journal of its node. */
  onDelivered: (event: ReferenceEvent) => void
  /** Called when no process answered a request. */
  onUnanswered: () => void
  /** Called when a request got its hold, or was rejected. */
  onEnd: (request: RunningRequest, end: RequestEnd) => void
}

interface Admitted {
  /** Ends it after the request was served, or failed. */
  end: (isServed: boolean) => void
}

/** Sends requests of all accounts, each to a node that admits, reserves, holds, runs and settles it as the gateway does. */
export class Traffic {
  readonly #ports: TrafficPorts
  /** The decisions about the places of running requests. */
  readonly #places = new Map<RunningRequest, number>()
  #isOver = false

  constructor(ports: TrafficPorts) {
    this.#ports = ports
    this.#requestLater()
  }

  stop(): void {
    this.#isOver = true
  }

  /** Ends the requests of nodes that have died. */
  noteDeath(nodes: ReadonlySet<RegionalNode>): void {
    const { log, scheduler } = this.#ports
    for (const [request, place] of this.#places) {
      if (!nodes.has(request.node)) continue
      log.end(place, { atMs: scheduler.nowMs, delta: 0 })
      this.#places.delete(request)
    }
  }

  #requestLater(): void {
    const { scheduler, random, profile } = this.#ports
    scheduler.after(random.waitMs(1000 / profile.requestsPerSecond), () => {
      if (this.#isOver) return
      this.#request()
      this.#requestLater()
    })
  }

  #request(): void {
    const { scheduler, random, population, newId, route } = this.#ports
    const account = population.draw(random)
    const node = route(account)
    const serving = node?.serving
    if (!node || !serving) return this.#ports.onUnanswered()
    const request = { id: newId('event'), account, node, serving, atMs: scheduler.nowMs }
    serving.start.requests += 1
    scheduler.runAs(serving.start, () => {
      void this.#serve(request).finally(() => (serving.start.requests -= 1))
    })
  }

  async #serve(request: RunningRequest): Promise<void> {
    const { scheduler, onEnd } = this.#ports
    const admitted = await this.#admit(request)
    const limitMs = scheduler.nowMs - request.atMs
    if (typeof admitted === 'string')
      return onEnd(request, { outcome: admitted, limitMs, ledgerMs: 0 })
    const hold = await this.#hold(request)
    const ledgerMs = scheduler.nowMs - request.atMs - limitMs
    const outcome = typeof hold === 'string' ? hold : 'served'
    onEnd(request, { outcome, limitMs, ledgerMs })
    if (typeof hold !== 'string') await this.#run(request, hold)
    admitted.end(outcome === 'served')
  }

  /** Counts the request, takes its place and reserves its tokens, or returns the limit that rejected it. */
  async #admit(request: RunningRequest): Promise<Admitted | LimitKind> {
    const { random, population, log, scheduler } = this.#ports
    const { account, serving } = request
    const limits = population.limitsOf(account)
    let admission: Admission
    try {
      admission = await serving.limits.admit({ limits })
    } catch (thrown) {
      const kind = kindOf(thrown)
      this.#decide(request, { kind, weight: 1, isAdmitted: false })
      return kind
    }
    this.#decide(request, { kind: 'requests', weight: 1, isAdmitted: true })
    const place = this.#decide(request, { kind: 'places', weight: 1, isAdmitted: true })
    this.#places.set(request, place)
    const leave = () => {
      admission.release()
      log.end(place, { atMs: scheduler.nowMs, delta: 0 })
      this.#places.delete(request)
    }
    const weight = Math.round(random.logarithmic(tokens.min, tokens.max))
    const fromMs = scheduler.nowMs
    try {
      await admission.reserve(weight)
    } catch (thrown) {
      leave()
      const kind = kindOf(thrown)
      this.#decide(request, { kind, weight, isAdmitted: false, fromMs })
      return kind
    }
    const reserved = this.#decide(request, { kind: 'tokens', weight, isAdmitted: true, fromMs })
    const share = random.next() ** 2
    return {
      end: (isServed) => {
        const used = isServed ? Math.round(weight * share) : 0
        if (isServed) admission.trueUp(used)
        leave()
        log.end(reserved, { atMs: scheduler.nowMs, delta: used - weight })
      },
    }
  }

  #decide(
    { account, node, atMs }: RunningRequest,
    decision: {
      kind: LimitKind
      weight: number
      isAdmitted: boolean
      fromMs?: number
    },
  ): number {
    const { log, scheduler } = this.#ports
    const { nowMs } = scheduler
    const { kind, weight, isAdmitted, fromMs = atMs } = decision
    const durationMs = nowMs - fromMs
    const { region } = node
    return log.add({ account, kind, node: region, atMs: nowMs, durationMs, weight, isAdmitted })
  }

  async #hold(request: RunningRequest): Promise<Hold | 'no credit' | 'failed'> {
    const { random, population, observer, onHold, onRefused } = this.#ports
    const { start } = request.serving
    const accountId = population.idOf(request.account)
    const full = BigInt(Math.round(random.logarithmic(holds.min, holds.max)))
    const floor = random.chance(lowerableShare) ? full / 4n + 1n : full
    const isAlive = () => start.isAlive
    const pending = observer.begin({ accountId, full, floor, minimum, isAlive })
    try {
      const hold = await start.credit.of(accountId).hold({ full, floor, minimum })
      observer.served(pending, hold)
      onHold(hold)
      return hold
    } catch (thrown) {
      if (thrown instanceof InsufficientCredit) {
        onRefused(pending)
        return 'no credit'
      }
      observer.failed(pending)
      return 'failed'
    }
  }

  /** Runs at the provider, and settles. A node that dies meanwhile leaves an open attempt in its journal. */
  async #run({ id, account, serving, atMs }: RunningRequest, hold: Hold): Promise<void> {
    const { random, population, observer, onSettled, onDelivered } = this.#ports
    const { journal } = serving.start
    const accountId = population.idOf(account)
    const { amount, leaseId } = hold
    const begun = { id, accountId, leaseId, cost: 0n, fromLease: 0n }
    await journal.begin(id, SimulatedNode.bodyOf(begun))
    const durationMs = random.logarithmic(durationsMs.min, durationsMs.max)
    await new Promise((resolve) => setTimeout(resolve, durationMs))
    const cost = BigInt(Math.ceil(Number(amount) * random.next() ** 2))
    const event: ReferenceEvent = { id, accountId, cost, ...hold.settle(cost) }
    observer.useOf(leaseId).held -= amount
    observer.settled(event, { sinceMs: atMs, held: amount })
    observer.look(accountId)
    onSettled(event)
    await journal.settle(id, SimulatedNode.bodyOf(event))
    onDelivered(event)
  }
}

/** Returns the limit that rejected a request. Throws what is no such rejection. */
function kindOf(thrown: unknown): LimitKind {
  if (!(thrown instanceof ApiError)) throw thrown
  if (thrown.code === 'tokens_per_minute_exceeded') return 'tokens'
  return thrown.details['window'] === 0 ? 'places' : 'requests'
}
