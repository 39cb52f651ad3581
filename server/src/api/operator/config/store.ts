import type { ChangedConfig } from './schema'
import type { LiveSettings } from '../../../platform/settings/live-settings'
import { toConfig, toSettingsChange } from '../../../platform/settings/stored-settings'

export type ConfigStore = ReturnType<typeof createConfigStore>

/** The settings of the installation, for operators. */
export const createConfigStore = (settings: LiveSettings) => ({
  get: async () => toConfig(await settings.read()),
  change: async (fields: ChangedConfig) =>
    toConfig(await settings.change(toSettingsChange(fields))),
})
