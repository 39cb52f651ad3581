import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config, Timers } from '../platform/config/config'
import { configRowIn } from '../platform/settings/config-row'
import { LiveSettings } from '../platform/settings/live-settings'
import { defaultSettings } from '../platform/settings/settings'

/** A lost notification delays a change by at most this and one read. */
const everyMs = 2500

/** Opens the operator settings; `stack` ends their upkeep. Rejects when the database does not answer. */
export async function openSettings(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): Promise<LiveSettings> {
  const settings = new LiveSettings({
    row: configRowIn(storage.database.query),
    defaults: defaultSettings(config),
    onError: (err) => log.warn({ err }, 'the settings could not be read; the last ones stay'),
    onDamaged: (name, err) =>
      log.error({ err }, `the stored setting ${name} cannot be used; its default is`),
  })
  await settings.read()
  const timer = setInterval(() => settings.refresh(), everyMs)
  timer.unref()
  stack.defer(() => clearInterval(timer))
  return settings
}

/** Returns the timers of the environment, five of them overridden by the current operator settings. */
export const liveTimers = (fixed: Timers, settings: Pick<LiveSettings, 'current'>): Timers => ({
  ...fixed,
  get requestMs() {
    return settings.current.timers.requestMs
  },
  get firstByteMs() {
    return settings.current.timers.firstByteMs
  },
  get idleMs() {
    return settings.current.timers.idleMs
  },
  get streamMs() {
    return settings.current.timers.streamMs
  },
  get connectMs() {
    return settings.current.timers.connectMs
  },
})
