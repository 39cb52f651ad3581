import { z } from 'zod'
import type { SettingKind } from './setting-kinds'
import type { Config, Timers } from '../config/config'
import { customIssue } from '../../wire/field-error'
import { isObject } from '../../wire/json-body'

/** A default, and where the environment has it if an environment variable sets it. */
interface Default<Value> {
  initial: (config: Config) => Value
  configPath?: readonly string[]
}

interface Documented {
  /** Its name in `PUT /api/admin/config` and in answers. */
  field: string
  /** Its name on the dashboard. */
  label: string
  /** The card that it is on; one of a group is on that of its group, others without a section are on a last one. */
  section?: string
  /** The meaning of its value, in Markdown. */
  doc: string
}

export interface LiveSetting<Value> extends SettingKind<Value>, Default<Value>, Documented {}

/** Settings that are the fields of one object; a change of one leaves the others as they are. */
export interface SettingGroup<Settings> extends SettingKind<unknown> {
  field: string
  section: string
  settings: Settings
  initial: (config: Config) => unknown
}

export type LiveSettingsTable = Record<
  string,
  LiveSetting<unknown> | SettingGroup<Record<string, LiveSetting<unknown>>>
>

/** Declares a setting: its values, its default, its name and its meaning. */
export const live = <Value>(
  kind: SettingKind<Value>,
  options: Default<NoInfer<Value>> & Documented,
): LiveSetting<Value> => ({ ...kind, ...options })

/** A default that no environment variable changes. */
export const constant = <const Value>(value: Value): Default<Value> => ({ initial: () => value })

export const fromConfig = <Key extends keyof Config>(key: Key): Default<Config[Key]> => ({
  initial: (config) => config[key],
  configPath: [key],
})

export const fromTimers = (key: keyof Timers): Default<number> => ({
  initial: ({ timers }) => timers[key],
  configPath: ['timers', key],
})

interface ListedSetting extends LiveSetting<unknown> {
  /** Its name with that of its group: `rates.alert_tests_per_hour`. */
  path: string
}

/** Lists the settings of a table, those of groups too. */
export const listLiveSettings = (table: LiveSettingsTable, group = ''): ListedSetting[] =>
  Object.values(table).flatMap((setting) => {
    const path = `${group}${setting.field}`
    return 'settings' in setting
      ? listLiveSettings(setting.settings, `${path}.`)
      : [{ ...setting, path }]
  })

type Fields = Readonly<Record<string, unknown>>

/** Makes an object with an entry for each setting. */
const mapSettings = <Value>(
  table: LiveSettingsTable,
  toEntry: (setting: LiveSettingsTable[string], key: string) => [name: string, value: Value],
): Record<string, Value> =>
  Object.fromEntries(Object.entries(table).map(([key, setting]) => toEntry(setting, key)))

/** Text of OpenAPI descriptions: the sentence of the documentation without its links. */
function toDescription({ doc, unit }: LiveSetting<unknown>): string {
  const text = doc.replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)/g, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${unit ? `; in ${unit}` : ''}`
}

const describe = (schema: z.ZodType, setting: LiveSettingsTable[string]) =>
  'doc' in setting ? schema.describe(toDescription(setting)) : schema

/** Keywords of a field in OpenAPI, by which the dashboard makes its input. */
function toInputKeywords(setting: LiveSettingsTable[string]) {
  const { section, unit } = setting
  return {
    ...('label' in setting && { title: setting.label }),
    ...(section !== undefined && { 'x-section': section }),
    ...(unit !== undefined && { 'x-unit': unit }),
  }
}

export const toBodyShape = (table: LiveSettingsTable) =>
  mapSettings(table, (setting) => [
    setting.field,
    describe(setting.body.optional(), setting).meta(toInputKeywords(setting)),
  ])

export const toAnswerShape = (table: LiveSettingsTable) =>
  mapSettings(table, (setting) => [setting.field, describe(setting.answer, setting)])

export const toStoredShape = (table: LiveSettingsTable) =>
  mapSettings(table, (setting, key) => [key, setting.stored.exactOptional()])

export const toInitialValues = (table: LiveSettingsTable, config: Config) =>
  mapSettings(table, (setting, key) => [key, setting.initial(config)])

/** Converts settings to the fields of an answer. */
export const toAnswerFields = (table: LiveSettingsTable, values: Fields) =>
  mapSettings(table, (setting, key) => [setting.field, setting.toAnswer(values[key])])

/** Returns the values of the fields that were sent, under the names of their settings. */
export const toChangedValues = (table: LiveSettingsTable, sentFields: Fields) =>
  Object.fromEntries(
    Object.entries(table)
      .map(([key, { field }]) => [key, sentFields[field]] as const)
      .filter(([, value]) => value !== undefined),
  )

/** Returns the values after a change, in which a group has only some of its fields. */
export const mergeValues = (table: LiveSettingsTable, values: Fields, change: Fields) =>
  mapSettings(table, (setting, key) => {
    const [before, after] = [values[key], key in change ? change[key] : values[key]]
    const isPartial = 'settings' in setting && isObject(before) && isObject(after)
    return [key, isPartial ? { ...before, ...after } : after]
  })

/** Declares a group; a change names at least one of its fields. */
export const group = <Settings extends Record<string, LiveSetting<unknown>>>(
  { field, section }: { field: string; section: string },
  settings: Settings,
): SettingGroup<Settings> => ({
  field,
  section,
  settings,
  body: z
    .object(toBodyShape(settings))
    .superRefine((fields, ctx) => {
      if (Object.values(fields).some((value) => value !== undefined)) return
      ctx.addIssue(customIssue('empty', 'send at least one of its fields.'))
    })
    .transform((fields) => toChangedValues(settings, fields)),
  stored: z.object(toStoredShape(settings)),
  answer: z.object(toAnswerShape(settings)),
  toAnswer: (values: Fields) => toAnswerFields(settings, values),
  initial: (config) => toInitialValues(settings, config),
})
