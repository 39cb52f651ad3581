import { expect, test } from 'bun:test'
import * as fc from '../testing/property'
import { SimulatedDisk } from './disk'
import { randomOf } from './disk-for-tests'
import { PlayedTime } from './played-time-for-tests'
import { Journal, type JournalPoint } from '../src/journal/journal'

const directory = '/data'

const points = ['before-journal', 'mid-group-commit', 'after-journal', 'before-truncate'] as const
const step = fc.oneof(
  { weight: 8, arbitrary: fc.constant('settle' as const) },
  { weight: 3, arbitrary: fc.constantFrom('begin', 'drop', 'wait') },
  { weight: 3, arbitrary: fc.constantFrom('full', 'stall', 'fail', 'close') },
  { weight: 2, arbitrary: fc.constantFrom('kill', 'cut') },
  { weight: 1, arbitrary: fc.constantFrom(...points) },
)
/** Sizes that fill segments and reuse files: a hundred times as many bytes. */
const longStep = fc.oneof(
  { weight: 8, arbitrary: step },
  { weight: 1, arbitrary: fc.constant('long' as const) },
)
type Step = typeof longStep extends fc.Arbitrary<infer Each> ? Each : never
const length = { minLength: 10, maxLength: 60 }
const steps = fc.oneof(
  { weight: 9, arbitrary: fc.array(step, length) },
  { weight: 1, arbitrary: fc.array(longStep, length) },
)
type End = 'kill' | 'cut' | 'close'

const seen = { kill: 0, cut: 0, close: 0, point: 0, failed: 0, refused: 0, damaged: 0, spare: 0 }

const missing = (ids: Iterable<string>, ...places: ReadonlySet<string>[]) =>
  [...ids].filter((id) => !places.some((place) => place.has(id)))

/** A journal on a faulty disk, restarted after each crash, and its promises to callers. */
class Run {
  readonly #time = new PlayedTime()
  readonly #random: () => number
  readonly #disk: SimulatedDisk
  #journal: Journal | undefined
  /** Resolves when the current process ends. */
  #death = Promise.withResolvers<undefined>()
  #life = 0
  #next = 0
  /** Pending calls of the current process. */
  #running = new Set<string>()
  /** The crash point at which the process is killed. */
  #crash: { point: JournalPoint; end: 'kill' | 'cut' } | undefined
  /** Whether a sync has failed. */
  #hasLost = false
  /** Faults since the last checked start. */
  #wasCut = false
  readonly #begun = new Set<string>()
  readonly #confirmed = new Set<string>()
  readonly #refused = new Set<string>()
  readonly #neverBegun = new Set<string>()
  /** Rejected since the last confirmation: a power cut may undo the truncation of their lines. */
  readonly #undecided = new Set<string>()
  readonly #dropped = new Set<string>()

  constructor(seed: number) {
    this.#random = randomOf(seed)
    this.#disk = new SimulatedDisk({
      random: this.#random,
      delay: (ms) => this.#time.delay(ms),
      now: () => this.#time.nowMs,
    })
    this.#disk.makeDirectory(directory)
  }

  play(steps: readonly Step[]): void {
    this.#time.play(async () => {
      await this.#start()
      for (const kind of [...steps, 'close', 'cut'] as const) {
        await this.#take(kind)
        await this.#time.delay(this.#random() * 4)
        if (!this.#journal) await this.#start()
        else if (this.#journal.failure !== undefined) await this.#end('kill')
      }
    })
  }

  async #take(kind: Step): Promise<void> {
    if (kind === 'kill' || kind === 'cut' || kind === 'close') return this.#end(kind)
    if (kind === 'settle') return void this.#settle(10 + Math.floor(this.#random() * 200))
    // A third of a segment, so that files are reused.
    if (kind === 'long') return void this.#settle(60_000)
    if (kind === 'wait') return this.#time.delay(this.#random() * 100)
    if (kind === 'stall') return this.#disk.stallSyncs(this.#random() * 1000)
    if (kind === 'begin') return void this.#begin(`open_${this.#next++}`)
    if (kind === 'drop') return this.#drop()
    if (kind === 'fail') {
      seen.failed += 1
      this.#hasLost = true
      return this.#disk.failNextSync()
    }
    if (kind === 'full') {
      this.#disk.fill()
      // Lines of one write, a part of which may have some complete lines.
      for (let count = 0; count < 3; count++) void this.#begin(`open_${this.#next++}`)
      for (let count = 0; count < 3; count++) void this.#settleAtOnce()
      await this.#time.delay(this.#random() * 10)
      return this.#disk.free()
    }
    this.#crash = { point: kind, end: this.#random() < 0.5 ? 'kill' : 'cut' }
  }

  /** Records the promise of a call, unless its process has ended since. */
  async #note(id: string, call: Promise<void>): Promise<boolean> {
    const life = this.#life
    this.#running.add(id)
    const [{ status, reason }] = await Promise.allSettled([call]).then(
      ([result]) => [{ reason: undefined, ...result }] as const,
    )
    if (life !== this.#life) return false
    this.#running.delete(id)
    if (status === 'fulfilled') return true
    expect(reason).toMatchObject({ name: 'JournalError' })
    if (reason.reason !== 'unwritten') return false
    seen.refused += 1
    this.#refused.add(id)
    this.#undecided.add(id)
    return false
  }

  async #begin(id: string): Promise<boolean> {
    if (!this.#journal) return false
    const isBegun = await this.#note(id, this.#journal.begin(id, 'open'))
    if (isBegun) this.#begun.add(id)
    else if (this.#refused.has(id)) this.#neverBegun.add(id)
    return isBegun
  }

  async #settle(times: number): Promise<void> {
    const id = `att_${this.#next++}`
    if (!(await this.#begin(id)) || !this.#journal) return
    await this.#confirm(id, this.#journal.settle(id, `${id} ${'x'.repeat(10 * times)}`))
  }

  /** Settles an attempt that has not begun. */
  async #settleAtOnce(): Promise<void> {
    const id = `att_${this.#next++}`
    const body = 'x'.repeat(this.#random() * 300)
    if (this.#journal) await this.#confirm(id, this.#journal.settle(id, body))
  }

  async #confirm(id: string, settlement: Promise<void>): Promise<void> {
    const undecided = [...this.#undecided]
    if (!(await this.#note(id, settlement))) return
    this.#confirmed.add(id)
    if (this.#hasLost) return
    for (const refused of undecided) this.#undecided.delete(refused)
  }

  #drop(): void {
    const rows = this.#journal?.settled(5) ?? []
    for (const { attemptId } of rows) this.#dropped.add(attemptId)
    void this.#journal?.drop(rows.map(({ seq }) => seq)).catch(() => undefined)
  }

  async #end(end: End): Promise<void> {
    const life = this.#life
    if (end === 'close') await this.#close()
    if (life !== this.#life) return
    this.#stop(end)
    await this.#start()
  }

  async #close(): Promise<void> {
    const life = this.#life
    const closing = Promise.allSettled([this.#journal?.close()])
    // A process that dies while it closes never reports it.
    const [closed] = (await Promise.race([closing, this.#death.promise])) ?? []
    if (life !== this.#life) return
    const hasFailed = this.#journal?.failure !== undefined
    expect(closed?.status).toBe('fulfilled')
    // Every call is answered, and after a failure the process ends.
    expect([...this.#running]).toEqual([])
    if (!hasFailed) expect(this.#disk.openDescriptors).toBe(0)
  }

  #stop(end: End): void {
    if (end === 'cut') this.#disk.powerCut()
    else this.#disk.killProcess()
    this.#wasCut ||= end === 'cut'
    seen[end] += 1
    this.#life += 1
    this.#death.resolve(undefined)
    this.#death = Promise.withResolvers<undefined>()
    this.#running = new Set()
    this.#journal = undefined
  }

  async #start(): Promise<void> {
    const reasons: string[] = []
    const life = this.#life
    this.#crash = undefined
    const opening = Journal.open({
      directory,
      sync: 'always',
      fileSystem: this.#disk.fileSystem,
      now: () => this.#time.nowMs,
      onDamage: ({ reason }) => void reasons.push(reason),
      crashAt: (point) => {
        if (life !== this.#life || this.#crash?.point !== point) return
        seen.point += 1
        this.#stop(this.#crash.end)
      },
    })
    if (this.#random() < 0.2) {
      opening.catch(() => undefined)
      await this.#time.delay(this.#random())
      this.#stop(this.#random() < 0.5 ? 'kill' : 'cut')
      return this.#start()
    }
    this.#journal = await opening.catch((thrown: unknown) => {
      expect(thrown).toMatchObject({ reason: 'failed', cause: { code: 'EIO' } })
      return undefined
    })
    if (!this.#journal) {
      this.#stop('kill')
      return this.#start()
    }
    this.#check(this.#journal, reasons)
    this.#wasCut = false
  }

  #check(journal: Journal, reasons: readonly string[]): void {
    const settled = new Set(journal.settled(100_000).map(({ attemptId }) => attemptId))
    const open = new Set(journal.orphans().map(({ attemptId }) => attemptId))
    expect(missing(this.#confirmed, settled, this.#dropped)).toEqual([])
    if (this.#wasCut) {
      for (const id of this.#undecided) {
        if (settled.has(id)) this.#refused.delete(id)
        if (open.has(id)) this.#neverBegun.delete(id)
      }
    }
    // The start synced everything that it read, except what an earlier failed sync has lost.
    if (!this.#hasLost) this.#undecided.clear()
    expect([...this.#refused].filter((id) => settled.has(id))).toEqual([])
    expect([...this.#neverBegun].filter((id) => open.has(id))).toEqual([])
    expect(reasons.filter((reason) => reason.includes('missing'))).toEqual([])
    if (this.#wasCut) {
      if (reasons.length > 0) seen.damaged += 1
      this.#begun.clear()
      for (const id of open) this.#begun.add(id)
    } else {
      expect(reasons).toEqual([])
      expect(missing(this.#begun, settled, open, this.#dropped)).toEqual([])
    }
    if (this.#disk.fileSystem.list(directory).some((name) => name.endsWith('.spare'))) {
      seen.spare += 1
    }
  }
}

test('on a disk with every fault, confirmed events survive each crash, and rejected ones never appear', () => {
  const property = fc.property(steps, fc.integer(), (steps, seed) => new Run(seed).play(steps))
  const runs = fc.runsOf(2000)
  fc.assert(property, { numRuns: runs })
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs / 40)
}, 120_000)
