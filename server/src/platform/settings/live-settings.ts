import type { ConfigRow } from './config-row'
import { toColumn, toSettings, type Settings, type SettingsChange } from './stored-settings'

interface Options {
  row: ConfigRow
  defaults: Settings
  onError: (error: unknown) => void
  /** Called for a stored value that is invalid; the default applies. */
  onDamaged: (name: string, error: unknown) => void
}

/**
 * Caches the settings of the installation, so that a request need not query the database for its timeouts. They are
 * read at the start, after each notification, and every few seconds, as a notification may be lost; while the database
 * does not answer, the last ones stay.
 */
export class LiveSettings {
  readonly #options: Options
  #current: Settings
  #isRefreshing = false
  #isStale = false
  #readings = 0
  #newest = 0
  /** The last applied settings as stored: damage is reported once. */
  #stored = ''

  constructor(options: Options) {
    this.#options = options
    this.#current = options.defaults
  }

  /** The latest settings. The object is never changed in place: read it again to see changes. */
  get current(): Settings {
    return this.#current
  }

  /** Reads them; rejects when the database does not answer. */
  async read(): Promise<Settings> {
    const { row, defaults, onDamaged } = this.#options
    const reading = ++this.#readings
    const column = await row.read()
    // A read that began earlier may return older data, even if it finishes later.
    if (reading < this.#newest) return this.#current
    this.#newest = reading
    const stored = JSON.stringify(column)
    if (stored !== this.#stored) this.#current = toSettings(defaults, column, onDamaged)
    this.#stored = stored
    return this.#current
  }

  /** Reads in the background, one read at a time; after a failure the next round tries again. */
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

  /** Stores a change, and resolves with all settings once they apply here. */
  async change(change: SettingsChange): Promise<Settings> {
    await this.#options.row.change(toColumn(change))
    return this.read()
  }
}
