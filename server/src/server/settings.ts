import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config, Timers } from '../platform/config/config'
import { fromNames, namesOf } from '../platform/from-names'
import { Periodic } from '../platform/periodic'
import { configRowIn } from '../platform/settings/config-row'
import { LiveSettings } from '../platform/settings/live-settings'
import { liveSettings } from '../platform/settings/settings'
import { defaultSettings } from '../platform/settings/stored-settings'

/** A lost notification delays a change by at most this and one read. */
const refreshEveryMs = 2500

/** Creates the operator settings; `disposables` ends their upkeep. Rejects when the database does not answer. */
export async function createSettings(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): Promise<LiveSettings> {
  const settings = new LiveSettings({
    row: configRowIn(storage.database.query),
    defaults: defaultSettings(config),
    onError: (err) =>
      log.warn({ err }, 'the settings could not be read; the previous ones stay in use'),
    onDamaged: (name, err) =>
      log.error({ err }, `the stored setting ${name} is invalid; its default is used`),
  })
  await settings.read()
  disposables.use(new Periodic({ intervalMs: refreshEveryMs, run: () => settings.refresh() }))
  return settings
}

const timerNames = namesOf(liveSettings.timers.settings)

/** Returns the timers of the environment, of which some are overridden by the current operator settings. */
export const liveTimers = (fixed: Timers, settings: Pick<LiveSettings, 'current'>): Timers =>
  Object.defineProperties(
    { ...fixed },
    fromNames(timerNames, (name) => ({ get: () => settings.current.timers[name] })),
  )
