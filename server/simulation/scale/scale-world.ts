import { Cluster } from './cluster'
import { DecisionLog } from './decision-log'
import { LossObserver, type LossFigures } from './loss-observer'
import { Population, type LimitKind } from './population'
import { lossMs, quietMs, startMs, type ScaleProfile } from './profile'
import { ScalePromises, type FalseRefusal, type Overshoot } from './promises'
import type { RegionalNode } from './regional-node'
import { Router } from './router'
import type { Sent } from './sent-counter'
import { leasedIdle, slicedIdle, type SetAside } from './set-aside'
import { Traffic, type RunningRequest, type TrafficPorts } from './traffic'
import { TrafficFigures } from './traffic-figures'
import { AccountObserver } from '../accounts'
import { Random } from '../random'

/** The interval at which the observer forgets what no open request needs. */
const evictEveryMs = 10_000
const drainStepMs = 10_000
/** The maximum staleness of a rejection: what a node knows is at most a second old. */
const slackMs = 1000

/** The phases of a run; requests count in the phase in which they arrive. */
export const phases = ['warm-up', 'measured', 'lost'] as const
export type Phase = (typeof phases)[number]

/** The result of a run at scale. */
export interface ScaleOutcome {
  profile: ScaleProfile
  /** By phase and region. */
  traffic: Record<Phase, TrafficFigures[]>
  sent: Record<Exclude<Phase, 'warm-up'>, Sent>
  /** At the end of the measured phase. */
  leased: SetAside
  sliced: Record<LimitKind, SetAside>
  /** The sum of all balances then, and the balances of accounts with a lease, in nano-dollars. */
  balances: { all: bigint; leasing: bigint }
  falseRefusals: FalseRefusal[]
  overshoots: Overshoot[]
  /** The accounts that sent requests. */
  accountsSeen: number
  promises: ScalePromises
  loss: LossFigures | undefined
  /** Requests that no process answered, as nodes were down. */
  unanswered: number
  /** Answered requests, each of which is booked. */
  delivered: number
  /** Costs that the ledger does not know at the end: their nodes died before they were answered. Nano-dollars. */
  unbooked: bigint
  /** Costs that the house bears, in nano-dollars. */
  writtenOff: bigint
  /** The time from the last request until all was booked and no lease was left, to ten seconds; undefined if some were left. */
  drainedMs: number | undefined
  maxWaitingStatements: number
  events: number
  simulatedMs: number
}

type OnProgress = (progress: Pick<ScaleOutcome, 'simulatedMs' | 'events'>) => void

/** Returns the phase in which a request arrived. */
export function phaseAt({ warmUpMs, measuredMs }: ScaleProfile, atMs: number): Phase {
  const sinceMs = atMs - startMs
  if (sinceMs < warmUpMs) return 'warm-up'
  return sinceMs < warmUpMs + measuredMs ? 'measured' : 'lost'
}

/** Many nodes in several regions, and the requests of very many accounts. */
class ScaleWorld {
  readonly #profile: ScaleProfile
  readonly #cluster: Cluster
  readonly #population: Population
  readonly #observer: AccountObserver
  readonly #log = new DecisionLog()
  readonly #promises: ScalePromises
  readonly #router: Router
  readonly #traffic: Record<Phase, TrafficFigures[]>
  readonly #onProgress: OnProgress | undefined
  /** The costs of answered requests in nano-dollars, by event. */
  readonly #delivered = new Map<string, number>()
  #toppedUp = 0n
  #settled = 0n
  #unanswered = 0
  #loss: LossObserver | undefined

  constructor(profile: ScaleProfile, onProgress?: OnProgress) {
    this.#profile = profile
    this.#onProgress = onProgress
    this.#cluster = new Cluster(profile)
    this.#population = new Population(profile)
    const { scheduler, ledger, sliceServer, nodes } = this.#cluster
    this.#observer = new AccountObserver(ledger, scheduler, {
      canReturn: (_, lease) => this.#cluster.canReturn(lease),
      slackMs,
    })
    this.#promises = new ScalePromises({
      scheduler,
      ledger,
      sliceServer,
      observer: this.#observer,
      population: this.#population,
      isDead: (nodeId) => this.#cluster.isDead(nodeId),
    })
    const random = new Random(profile.seed + 2)
    this.#router = new Router({ profile, nodes, random, population: this.#population, scheduler })
    const figures = () => Array.from({ length: profile.regions }, () => new TrafficFigures())
    this.#traffic = { 'warm-up': figures(), measured: figures(), lost: figures() }
    this.#cluster.onBooked = (events, fresh) => {
      for (const event of fresh) this.#observer.booked(event)
      this.#promises.checkBooked(events)
    }
    this.#topUp()
  }

  #topUp(): void {
    const { ledger } = this.#cluster
    for (let at = 0; at < this.#profile.accounts; at++) {
      const posted = BigInt(this.#population.balances[at] ?? 0)
      ledger.accounts.set(this.#population.idOf(at), { posted, leased: 0n })
      this.#toppedUp += posted
    }
  }

  run(): ScaleOutcome {
    const { scheduler, sent, database } = this.#cluster
    const { warmUpMs, measuredMs, lostMs, loss } = this.#profile
    this.#evictLater()
    scheduler.runUntil(startMs)
    const traffic = new Traffic(this.#trafficPorts())
    scheduler.runUntil(startMs + warmUpMs)
    const before = sent.since()
    scheduler.runUntil(startMs + warmUpMs + measuredMs)
    const setAside = this.#now(() => this.#setAside())
    const measured = sent.since(before)
    const beforeLoss = sent.since()
    if (loss) this.#now(() => traffic.noteDeath(this.#lose(loss)))
    scheduler.runUntil(startMs + warmUpMs + measuredMs + lostMs)
    const lost = sent.since(beforeLoss)
    traffic.stop()
    const drainedMs = this.#drain()
    this.#observer.concludeAll()
    return {
      profile: this.#profile,
      traffic: this.#traffic,
      sent: { measured, lost },
      ...setAside,
      ...this.#check(),
      promises: this.#promises,
      loss: this.#loss?.figures,
      unanswered: this.#unanswered,
      delivered: this.#delivered.size,
      drainedMs,
      maxWaitingStatements: database.maxWaiting,
      events: scheduler.events,
      simulatedMs: scheduler.nowMs,
    }
  }

  /** Does work at this moment by the simulated clock: what slices have in use depends on it. */
  #now<Result>(work: () => Result): Result {
    const { scheduler } = this.#cluster
    const done: { result: Result }[] = []
    scheduler.after(0, () => void done.push({ result: work() }))
    scheduler.runUntil(scheduler.nowMs)
    const [first] = done
    if (!first) throw new Error('the work did not run')
    return first.result
  }

  /** Runs without requests until nothing is left to book or return. Returns how long that took, in milliseconds. */
  #drain(): number | undefined {
    const { scheduler, ledger, nodes } = this.#cluster
    const fromMs = scheduler.nowMs
    let drainedMs: number | undefined
    while (scheduler.nowMs < fromMs + quietMs.max) {
      scheduler.runUntil(scheduler.nowMs + drainStepMs)
      const isBooked = nodes.every(({ process }) => process?.journal.size === 0)
      if (isBooked && ledger.active.size === 0) drainedMs ??= scheduler.nowMs - fromMs
      if (drainedMs !== undefined && scheduler.nowMs >= fromMs + quietMs.min) break
    }
    return drainedMs
  }

  #evictLater(): void {
    const { scheduler } = this.#cluster
    scheduler.after(evictEveryMs, () => {
      this.#observer.evictEnded()
      this.#onProgress?.({ simulatedMs: scheduler.nowMs, events: scheduler.events })
      this.#evictLater()
    })
  }

  /** Checks the promises at the end of the run. */
  #check() {
    const promises = this.#promises
    promises.checkEnd()
    promises.checkSums(this.#toppedUp)
    promises.checkDelivered(this.#delivered)
    let booked = 0n
    let writtenOff = 0n
    for (const event of this.#cluster.ledger.booked.values()) {
      booked += event.charged + event.writtenOff
      writtenOff += event.writtenOff
    }
    const { loss } = this.#profile
    const how = { noticeMs: this.#noticeMs, ...(loss && { loss }) }
    return {
      ...promises.checkLimits(this.#log, how),
      unbooked: this.#settled - booked,
      writtenOff,
    }
  }

  /** Other nodes know what became free after a few exchanges, each of two round trips. */
  get #noticeMs(): number {
    const { regions, nearMs, farMs } = this.#profile
    return 20 + 12 * (regions > 1 ? farMs : nearMs)
  }

  #setAside() {
    const { ledger, sliceServer } = this.#cluster
    const population = this.#population
    const idle = (kind: LimitKind) => slicedIdle(sliceServer, { kind, population })
    const balances = { all: 0n, leasing: 0n }
    for (const [id, { posted }] of ledger.accounts) {
      balances.all += posted
      if (ledger.activeOf(id).length > 0) balances.leasing += posted
    }
    return {
      leased: leasedIdle(ledger, this.#observer),
      sliced: { requests: idle('requests'), places: idle('places'), tokens: idle('tokens') },
      balances,
    }
  }

  #lose(loss: NonNullable<ScaleProfile['loss']>): ReadonlySet<RegionalNode> {
    const { scheduler, ledger, sliceServer } = this.#cluster
    const region = this.#profile.regions - 1
    const lost = this.#cluster.lose(region, { loss, ms: lossMs })
    this.#router.lose(region, { loss, ms: lossMs })
    this.#loss = new LossObserver({
      scheduler,
      ledger,
      sliceServer,
      population: this.#population,
      observer: this.#observer,
      isLost: (node) => !this.#cluster.canReturn(node),
    })
    return loss === 'killed' ? lost : new Set()
  }

  #trafficPorts(): TrafficPorts {
    const { scheduler, newId } = this.#cluster
    const observer = this.#observer
    return {
      scheduler,
      newId,
      observer,
      random: new Random(this.#profile.seed + 3),
      profile: this.#profile,
      population: this.#population,
      log: this.#log,
      route: (account) => this.#router.route(account),
      onHold: (hold) => this.#promises.checkHold(hold),
      onRefused: (pending) =>
        observer.refused(pending, (least) => {
          this.#promises.checkRefusal(pending, least)
          this.#loss?.refused(pending, least)
        }),
      onSettled: ({ cost }) => (this.#settled += cost),
      onDelivered: ({ id, cost }) => this.#delivered.set(id, Number(cost)),
      onUnanswered: () => (this.#unanswered += 1),
      onEnd: (request, end) => this.#noteEnd(request, end),
    }
  }

  #noteEnd({ atMs, node }: RunningRequest, end: Parameters<TrafficPorts['onEnd']>[1]): void {
    this.#traffic[phaseAt(this.#profile, atMs)][node.region]?.add(end)
    this.#loss?.ended(end)
  }
}

/**
 * Runs a profile from the start of its nodes until all is returned. A profile has the same outcome each time. Calls
 * `onProgress` every ten simulated seconds.
 */
export function simulateScale(profile: ScaleProfile, onProgress?: OnProgress): ScaleOutcome {
  return new ScaleWorld(profile, onProgress).run()
}
