import { Random } from './random'
import { Scheduler, type SimulatedProcess } from './scheduler'
import type { CounterTake, Demand } from '../src/limits/counters'
import { windowMs } from '../src/limits/sliding-window'
import { SlicedCounters } from '../src/limits/slices/sliced-counters'
import { SimulatedSliceServer, SimulatedSliceStore } from '../testing/limits/simulated-slice-store'

/** A fault of the store, or of the network before it. */
export const storeFaults = [
  'store down',
  'store frozen',
  'store slow',
  'store emptied',
  'messages lost',
] as const

/** A fault of one node. `node restarted` is another one, which gives back what it had. */
export const nodeFaults = ['node cut off', 'node stalled', 'node dead'] as const

export type LimitFault =
  | (typeof storeFaults)[number]
  | (typeof nodeFaults)[number]
  | 'node restarted'

export interface LimitProfile {
  seed: number
  nodes: number
  /** Counted by the limit: requests or tokens per minute, or concurrent requests. */
  kind: 'requests' | 'tokens' | 'places'
  limit: number
  /** Requests per minute of the nodes, in turn. */
  rates: readonly number[]
  fault?: LimitFault
  /** How long the fault lasts at most. Milliseconds. */
  maxFaultMs?: number
  /** The round trip to a store that is far away and as patient as PostgreSQL's. Milliseconds. */
  roundTripMs?: number
}

/** A request that was admitted or refused. */
export interface Decision {
  node: number
  /** Of the answer. */
  atMs: number
  durationMs: number
  weight: number
  isAdmitted: boolean
  waitMs: number
  /** When an admitted request ended, and its use beyond the weight. */
  end: { atMs: number; delta: number } | undefined
}

export interface LimitOutcome {
  profile: LimitProfile
  decisions: Decision[]
  /** When the fault began and ended; undefined without one. */
  fault: { node: number; fromMs: number; toMs: number } | undefined
  /** Round trips to the store, without heartbeats. */
  roundTrips: number
}

/** How long a process of a node takes to start again after a crash. Milliseconds. */
export const restartMs = 500
const usualMs = 200_000
/** The timeout of `postgres-slice-store.ts`. Milliseconds. */
const distantTimeoutMs = 250
/** The effects of a fault are over after this time: a minute for each change of mode, and margins. */
const afterFaultMs = 150_000

/** Runs nodes that share a limit, in simulated time. A profile has the same outcome each time. */
export function simulateLimits(profile: LimitProfile): LimitOutcome {
  const world = new LimitsWorld(profile)
  return world.run()
}

class LimitsWorld {
  readonly #profile: LimitProfile
  readonly #random: Random
  readonly #scheduler = new Scheduler()
  readonly #server: SimulatedSliceServer
  readonly #processes: SimulatedProcess[]
  readonly #decisions: Decision[] = []
  /** Admitted requests, which end with their node. */
  readonly #running: { counters: SlicedCounters; decision: Decision }[] = []
  readonly #counters = new Map<SimulatedProcess, SlicedCounters>()
  #isLossy = false
  #isSlow = false

  constructor(profile: LimitProfile) {
    this.#profile = profile
    const random = new Random(profile.seed)
    this.#random = random
    const { roundTripMs } = profile
    const usualDelayMs = () =>
      roundTripMs === undefined
        ? 0.1 + random.next() * 0.4
        : (roundTripMs / 2) * (0.8 + 0.4 * random.next())
    this.#server = new SimulatedSliceServer({
      ...(roundTripMs !== undefined && { timeoutMs: distantTimeoutMs }),
      delayMs: () => (this.#isSlow ? random.integer(60, 120) : usualDelayMs()),
      isLost: () => this.#isLossy && random.chance(0.1),
    })
    this.#processes = Array.from({ length: profile.nodes }, (_, node) => ({
      name: `node-${node}`,
      isAlive: true,
      frozenUntilMs: 0,
      wallOffsetMs: 0,
    }))
  }

  run(): LimitOutcome {
    for (const [node, process] of this.#processes.entries()) {
      this.#scheduler.after(node, () => this.#start(process, node), process)
    }
    const { fault, maxFaultMs = 100_000 } = this.#profile
    const fromMs = 30_000 + this.#random.integer(0, 40_000)
    const toMs = fromMs + this.#random.integer(200, maxFaultMs)
    const faulty = this.#random.integer(0, this.#processes.length - 1)
    if (fault) this.#plan(fault, faulty, { fromMs, toMs })
    this.#scheduler.runUntil(fault ? toMs + afterFaultMs : usualMs)
    const { roundTrips } = this.#server
    const period = fault && { node: faulty, fromMs, toMs }
    return { profile: this.#profile, decisions: this.#decisions, fault: period, roundTrips }
  }

  #start(process: SimulatedProcess, node: number, predecessor?: string): void {
    const { name } = process
    const counters = new SlicedCounters({
      store: new SimulatedSliceStore(this.#server, name),
      node: name,
      predecessor,
    })
    this.#counters.set(process, counters)
    const onRecall = counters.onRecall.bind(counters)
    this.#server.subscribe(name, (recall) =>
      this.#scheduler.after(0, () => onRecall(recall), process),
    )
    void counters.start()
    const { rates } = this.#profile
    const meanMs = windowMs / (rates[node % rates.length] ?? 1)
    const next = () => {
      this.#send(counters, node)
      setTimeout(next, this.#random.waitMs(meanMs))
    }
    setTimeout(next, 500 + this.#random.waitMs(meanMs))
  }

  #send(counters: SlicedCounters, node: number): void {
    const { kind, limit } = this.#profile
    const bucket = { id: `${kind}:user_1`, limit }
    const isSlot = kind === 'places'
    const weight = kind === 'tokens' ? this.#random.integer(1, Math.ceil(limit / 8)) : 1
    const demand: Demand = {
      windows: isSlot ? [] : [bucket],
      weight,
      running: isSlot ? [bucket] : [],
    }
    const startedMs = performance.now()
    const taking = Promise.resolve(counters.take(demand))
    void taking.then((take) => this.#decided(take, { counters, node, weight, startedMs }))
  }

  #decided(
    take: CounterTake,
    {
      counters,
      node,
      weight,
      startedMs,
    }: { counters: SlicedCounters; node: number; weight: number; startedMs: number },
  ): void {
    const atMs = performance.now()
    const isAdmitted = take.kind === 'granted'
    const decision: Decision = {
      node,
      atMs,
      durationMs: atMs - startedMs,
      weight,
      isAdmitted,
      waitMs: take.kind === 'granted' ? 0 : take.waitMs,
      end: undefined,
    }
    this.#decisions.push(decision)
    if (take.kind === 'refused' || this.#profile.kind === 'requests') return
    this.#running.push({ counters, decision })
    const delta = this.#profile.kind === 'tokens' ? -this.#random.integer(0, weight) : 0
    setTimeout(
      () => {
        take.end(delta)
        decision.end = { atMs: performance.now(), delta }
      },
      this.#random.logarithmic(100, 20_000),
    )
  }

  #plan(fault: LimitFault, node: number, { fromMs, toMs }: { fromMs: number; toMs: number }): void {
    const process = this.#processes[node]
    if (!process) return
    this.#scheduler.after(fromMs, () => this.#begin(fault, process, toMs))
    this.#scheduler.after(toMs, () => {
      this.#server.isDown = false
      this.#server.thaw()
      this.#server.cutOff.clear()
      this.#isSlow = false
      this.#isLossy = false
    })
  }

  #begin(fault: LimitFault, process: SimulatedProcess, toMs: number): void {
    const server = this.#server
    const begin: Record<LimitFault, () => void> = {
      'store down': () => (server.isDown = true),
      'store frozen': () => server.freeze(),
      'store slow': () => (this.#isSlow = true),
      'store emptied': () => server.empty(),
      'messages lost': () => (this.#isLossy = true),
      'node cut off': () => server.cutOff.add(process.name),
      'node stalled': () => (process.frozenUntilMs = toMs),
      'node dead': () => this.#kill(process),
      'node restarted': () => {
        this.#kill(process)
        const { name } = process
        const node = this.#processes.indexOf(process)
        const next = { ...process, name: `${name}-again`, isAlive: true }
        this.#scheduler.after(restartMs, () => this.#start(next, node, name), next)
      },
    }
    begin[fault]()
  }

  #kill(process: SimulatedProcess): void {
    process.isAlive = false
    this.#server.unsubscribe(process.name)
    const counters = this.#counters.get(process)
    for (const { decision, counters: of } of this.#running) {
      if (of === counters) decision.end ??= { atMs: performance.now(), delta: 0 }
    }
  }
}
