import { z } from 'zod'
import {
  toAnswerFields,
  toChangedValues,
  mergeValues,
  toInitialValues,
  toStoredShape,
  type LiveSetting,
  type SettingGroup,
} from './live-setting'
import { liveSettings } from './settings'
import type { Config } from '../config/config'
import { namesOf } from '../from-names'

type ValueOf<Setting> = Setting extends LiveSetting<infer Value> ? Value : never
type ValuesOf<Table> = { [Key in keyof Table]: ValueOf<Table[Key]> }

type Table = typeof liveSettings

/** The settings that apply. Amounts are nano-dollars, prices those of a million tokens. */
export type Settings = {
  [Key in keyof Table]: Table[Key] extends SettingGroup<infer Inner>
    ? ValuesOf<Inner>
    : ValueOf<Table[Key]>
}

/** The changes to store; absent settings stay as they are. */
export type SettingsChange = {
  [Key in keyof Table]?: Table[Key] extends SettingGroup<infer Inner>
    ? Partial<ValuesOf<Inner>>
    : ValueOf<Table[Key]>
}

/** Settings that are objects with named fields. */
export const groupNames = namesOf(liveSettings).filter((name) => 'settings' in liveSettings[name])

/** Returns the settings that apply while nothing is stored: the environment, and defaults from the contract. */
export const defaultSettings = (config: Config): Settings =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a value of each setting, by its own declaration
  toInitialValues(liveSettings, config) as Settings

/** Converts settings to an answer of the API, by the public names. */
export const toConfig = (settings: Settings) => toAnswerFields(liveSettings, settings)

/** Converts the body of a PUT, read by the schemas of the settings, to a change. */
export const toSettingsChange = (body: Readonly<Record<string, unknown>>): SettingsChange =>
  toChangedValues(liveSettings, body)

/** The stored row; a value is present once an operator has set it. */
const Stored = z.object(toStoredShape(liveSettings))

/** Serializes a change for its column. JSON has no `bigint`. */
export const toColumn = (change: SettingsChange): string =>
  JSON.stringify(change, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** Called with the name of a stored value that is invalid. */
type OnDamaged = (name: string, error: unknown) => void

function readColumn(column: object, onDamaged: OnDamaged): z.output<typeof Stored> {
  const parsed = Stored.safeParse(column)
  if (parsed.success) return parsed.data
  const damaged = new Set(parsed.error.issues.map(({ path: [name] }) => String(name)))
  for (const name of damaged) onDamaged(name, parsed.error)
  const sound = Object.entries(column).filter(([name]) => !damaged.has(name))
  return Stored.parse(Object.fromEntries(sound))
}

/** Merges the stored settings into the defaults; invalid values are left out. */
export const toSettings = (defaults: Settings, column: object, onDamaged: OnDamaged): Settings =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its defaults, with values read by their schemas
  mergeValues(liveSettings, defaults, readColumn(column, onDamaged)) as Settings
