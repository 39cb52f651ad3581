import { bookBodies, createBookingCheck, keptFiles, startBookingCheck } from './booking-check'
import type { Link } from './database'
import { asOrphan, toBody } from './event-body'
import { SimulatedStatements, type DatabaseSide } from './statements'
import type { SimulatedProcess } from './scheduler'
import { DatabaseLiveness } from '../src/platform/db/liveness'
import { LeaseUpkeep } from '../src/ledger/lease-upkeep'
import { createLeaseStore } from '../src/ledger/lease-store'
import type { ReferenceEvent } from '../testing/ledger/reference-ledger'
import { CreditManager } from '../src/ledger/credit-manager'
import { LeaseReclaimer, type LeaseReclaim } from '../src/ledger/lease-reclaim'
import { Sweeper } from '../src/ledger/sweeper'
import { Flusher } from '../src/booking/flusher'
import type { LostBookings } from '../src/booking/lost-bookings'
import { Journal } from '../src/journal/journal'
import type { Periodic } from '../src/platform/periodic'
import type { SimulatedDisk } from './disk'

export interface NodePorts extends DatabaseSide {
  /** Whether nodes keep what they booked, and book it again where the database went back; false by default. */
  isMending?: boolean
  newId: (prefix: string) => string
  /** Called when a node has started, or is about to stop. */
  onChange: () => void
}

/** One start of the program on a node. */
interface Start extends SimulatedProcess {
  nodeId: string
  statements: SimulatedStatements
  credit: CreditManager
  upkeep: LeaseUpkeep
  journal: Journal
  flusher: Flusher
  lost: LostBookings | undefined
  checks: Periodic | undefined
  /** Requests that wait for a hold or run. */
  requests: number
}

const rotateAfterMs = 12 * 3_600_000
const directory = '/data'
const restartMs = 5000
const drainMs = 100
const maxDrainTries = 100
/** Recalls are polled every two seconds, as notifications may be lost. */
const noticeMs = 3000

/** A node that runs the real lease and journal code, on a simulated disk, clock and database. */
export class SimulatedNode {
  readonly name: string
  readonly link: Link
  readonly disk: SimulatedDisk
  readonly #ports: NodePorts
  #start: Start | undefined
  #earlierIds: string[] = []
  #process: SimulatedProcess | undefined

  constructor(name: string, ports: NodePorts, { link, disk }: { link: Link; disk: SimulatedDisk }) {
    this.name = name
    this.#ports = ports
    this.link = link
    this.disk = disk
  }

  /** The serving process; undefined while it starts or is down. */
  get serving(): Start | undefined {
    return this.#start
  }

  get isUp(): boolean {
    return this.#process !== undefined
  }

  /** Tells whether other nodes can recall its unused credit. */
  get isReachable(): boolean {
    const { nowMs } = this.#ports.scheduler
    const start = this.#start
    return start !== undefined && start.frozenUntilMs <= nowMs && this.link.cutUntilMs <= nowMs
  }

  /** Tells whether it has known for a while that others may need credit, and can return the free part of a lease. */
  canReturn(leaseId: string): boolean {
    const start = this.#start
    if (!start || !this.isReachable) return false
    const { scheduler, database } = this.#ports
    const { frozenUntilMs, refusesUntilMs } = database
    const sinceMs = Math.max(
      start.frozenUntilMs,
      this.link.cutUntilMs,
      frozenUntilMs,
      refusesUntilMs,
    )
    if (sinceMs > 0 && scheduler.nowMs - sinceMs < noticeMs) return false
    return start.credit.leases().some((lease) => lease.leaseId === leaseId && !lease.isUnsure)
  }

  start(): void {
    if (this.#process) return
    const { scheduler, newId } = this.#ports
    const nodeId = newId('node')
    const process: SimulatedProcess = {
      name: `${this.name} as ${nodeId}`,
      isAlive: true,
      frozenUntilMs: 0,
      wallOffsetMs: 0,
    }
    this.#process = process
    scheduler.runAs(process, () => {
      this.#open(process, nodeId).catch(() => {
        if (!process.isAlive) return
        this.kill()
        // Restart, as a supervisor does.
        scheduler.after(restartMs, () => this.start())
      })
    })
  }

  async #open(process: SimulatedProcess, nodeId: string): Promise<void> {
    const ports = this.#ports
    const statements = new SimulatedStatements(ports, { process, link: this.link, nodeId })
    const { fileSystem } = this.disk
    const onMended = () => this.#start?.credit.renewSoon()
    const lost = ports.isMending
      ? createBookingCheck(statements, { directory, fileSystem, onMended })
      : undefined
    const journal = await Journal.open({
      directory,
      sync: 'always',
      fileSystem,
      ...(lost && { recent: keptFiles }),
    })
    const flusher = new Flusher({
      journal,
      book: (rows) =>
        bookBodies(
          statements,
          rows.map(({ body }) => body),
          lost,
        ),
      onError: () => undefined,
    })
    await this.#recover({ statements, journal, flusher })
    const credit = this.#openCredit(process, statements, nodeId)
    await credit.liveness.measure()
    this.#start = Object.assign(process, {
      nodeId,
      statements,
      journal,
      flusher,
      lost,
      checks: lost && startBookingCheck(lost),
      ...credit,
      requests: 0,
    })
    this.#earlierIds.push(nodeId)
    ports.onChange()
  }

  /** Recovers as `booking/recover-journal.ts` does: books the journal, then ends the leases of earlier starts. */
  async #recover({
    statements,
    journal,
    flusher,
  }: Pick<Start, 'statements' | 'journal' | 'flusher'>) {
    for (const { attemptId, body } of journal.orphans()) {
      await journal.settle(attemptId, asOrphan(attemptId, body))
    }
    for (;;) {
      try {
        await flusher.drain()
        for (const earlier of this.#earlierIds) await statements.endLeasesOf(earlier)
        break
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
    this.#earlierIds = []
  }

  #openCredit(process: SimulatedProcess, statements: SimulatedStatements, nodeId: string) {
    const { scheduler, database, newId } = this.#ports
    const liveness = new DatabaseLiveness({ ping: () => statements.ping() })
    const credit = new CreditManager({
      nodeId,
      store: createLeaseStore(statements.leases, liveness),
      newLeaseId: () => newId('lease'),
      now: () => ({ monotonicMs: scheduler.nowMs, wallMs: scheduler.wallMs(process) }),
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      rotateAfterMs,
      onError: () => undefined,
    })
    const reclaims = new LeaseReclaimer((reclaim) => {
      credit.onReclaim(reclaim).catch(() => undefined)
    })
    database.listen(process, this.link, (channel, payload) => {
      if (channel === 'recall') reclaims.onNotification(payload, nodeId)
      else credit.onCreditAdded(payload)
    })
    const sweeper = new Sweeper(statements.sweeps, () => scheduler.nowMs)
    const upkeep = new LeaseUpkeep({
      credit: credit,
      readReclaims: () => statements.recentReclaims(),
      onReclaim: (reclaim: LeaseReclaim) => reclaims.note(reclaim),
      beat: () => liveness.measure(),
      sweep: async () => void (await sweeper.sweep()),
      onError: () => undefined,
    })
    return { credit, upkeep, liveness }
  }

  /** Kills the process; its writes stay. */
  kill(): void {
    this.#end()
    this.disk.killProcess()
  }

  /** Cuts the power. */
  cutPower(): void {
    this.#end()
    this.disk.powerCut()
  }

  #end(): void {
    if (this.#process) this.#process.isAlive = false
    this.#process = undefined
    this.#start = undefined
    this.#ports.onChange()
  }

  /** Restarts gracefully: books settlements and returns leases, as `server/money.ts` does at the end. */
  restart(afterMs: number): void {
    const start = this.#start
    if (!start) return
    this.#start = undefined
    const leave = async () => {
      for (let tries = 0; start.requests > 0 && tries < maxDrainTries; tries++) {
        await new Promise((resolve) => setTimeout(resolve, drainMs))
      }
      // As in a graceful shutdown after its timeout: running requests are cut off, their attempts become orphans.
      if (start.requests > 0) return
      await start.flusher.drain()
      await start.credit.giveBackAll()
      await start.statements.endLeasesOf(start.nodeId)
    }
    this.#ports.scheduler.runAs(start, () => {
      leave()
        .catch(() => undefined)
        .finally(() => {
          this.kill()
          this.#ports.scheduler.after(afterMs, () => this.start())
        })
    })
  }

  /** Its connections lead to the database again, after all of them broke. */
  reconnect(): void {
    const start = this.#start
    if (!start?.lost) return
    const { lost, credit } = start
    const check = () => void lost.check().then(() => credit.renewSoon())
    this.#ports.scheduler.after(0, check, start)
  }

  freeze(ms: number): void {
    if (this.#process) this.#process.frozenUntilMs = this.#ports.scheduler.nowMs + ms
    this.#ports.onChange()
  }

  jumpWallClock(ms: number): void {
    if (this.#process) this.#process.wallOffsetMs += ms
  }

  /** Journals and settles a request: see `server/usage.ts`. */
  static bodyOf(event: ReferenceEvent): string {
    return toBody(event)
  }
}
