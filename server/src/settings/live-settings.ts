import type { ConfigRow } from './config-row'
import { toColumn, toSettings, type Settings, type SettingsChange } from './settings'

interface Options {
  row: ConfigRow
  defaults: Settings
  onError: (error: unknown) => void
  /** A stored value that cannot be used; the default stays. */
  onDamaged: (name: string, error: unknown) => void
}

/**
 * The settings of the installation, in memory: a request must not wait for the database to learn how
 * long it may take. Read at the start, after each notification, and every few seconds, as one may be
 * lost; while the database does not answer, the last ones stay.
 */
export class LiveSettings {
  readonly #options: Options
  #current: Settings
  #isRefreshing = false
  #isStale = false
  #readings = 0
  #newest = 0
  /** What was last taken over, as it was stored: damage is told once. */
  #stored = ''

  constructor(options: Options) {
    this.#options = options
    this.#current = options.defaults
  }

  /** As last read, and never changed in place: who asks again later may get others. */
  get current(): Settings {
    return this.#current
  }

  /** Reads them; rejects when the database does not answer. */
  async read(): Promise<Settings> {
    const { row, defaults, onDamaged } = this.#options
    const reading = ++this.#readings
    const column = await row.read()
    // One that began earlier may know less, however late it is answered.
    if (reading < this.#newest) return this.#current
    this.#newest = reading
    const stored = JSON.stringify(column)
    if (stored !== this.#stored) this.#current = toSettings(defaults, column, onDamaged)
    this.#stored = stored
    return this.#current
  }

  /** The same in the background, one at a time; where it fails, the next round tries again. */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRefreshing) void this.#refresh()
  }

  async #refresh(): Promise<void> {
    this.#isRefreshing = true
    while (this.#isStale) {
      this.#isStale = false
      await this.read().catch(this.#options.onError)
    }
    this.#isRefreshing = false
  }

  /** Stores a change, and resolves with all settings once they hold here. */
  async change(change: SettingsChange): Promise<Settings> {
    await this.#options.row.change(toColumn(change))
    return this.read()
  }
}
