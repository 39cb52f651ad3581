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

/** Nested settings, which are changed one by one. */
const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the changed settings, including those within groups. */
export function newIn(fields: object, before: object): object {
  const changed = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const old: unknown = Reflect.get(before, name)
    if (JSON.stringify(value) === JSON.stringify(old)) return []
    return [[name, isGroup(value) && isGroup(old) ? newIn(value, old) : value]]
  })
  return Object.fromEntries(changed)
}
