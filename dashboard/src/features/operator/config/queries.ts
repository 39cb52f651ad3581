import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { toSections } from './setting-fields'
import schema from './settings-schema.json'

export const configQuery = queryOptions({
  queryKey: ['operator', 'config'],
  queryFn: async () => bodyOf(api.GET('/api/admin/config')),
})

export type Config = Schemas['Config']

/** The cards of the page. */
export const sections = toSections(schema)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The settings that group others, which are changed one by one. */
const groups = new Set(
  Object.entries(schema.properties).flatMap(([name, one]) => ('properties' in one ? [name] : [])),
)

/** Returns the changed settings, including those within groups. */
export function newIn(fields: object, before: object): object {
  const changed = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const old: unknown = Reflect.get(before, name)
    if (JSON.stringify(value) === JSON.stringify(old)) return []
    const isGroup = groups.has(name) && isObject(value) && isObject(old)
    return [[name, isGroup ? newIn(value, old) : value]]
  })
  return Object.fromEntries(changed)
}
