import type { Kind, CreatedObject } from './kind'
import { kinds } from './objects'
import type { Route } from './routes'

/** `/api/connections/:id/test` -> `/api/connections/:id`. */
export const objectPath = ({ path, parameters }: Route) =>
  path.slice(0, path.lastIndexOf(`:${parameters.at(-1)}`) + 1 + (parameters.at(-1) ?? '').length)

/** The kinds of objects that a route can name. Throws for a route that the table knows none for. */
export function kindsOf(route: Route): readonly Kind[] {
  if (route.parameters.length === 0) return [noObject]
  const found = kinds[route.name] ?? kinds[objectPath(route)]
  if (found) return found
  throw new Error(
    `${route.name}: tests/api/authorization/objects.ts cannot make "${objectPath(route)}"`,
  )
}

/** Routes without an object: there is only who calls. */
export const noObject: Kind = {
  make: async (on) => ({ owner: await on.newCustomer(), ids: [] }),
  isPublic: true,
}

const tail = /[0-9a-hjkmnp-tv-z]{26}$/

/** The last id of a path, in the ways in which it can belong to no account. */
export function absentIds({ ids }: CreatedObject, { unknown }: Kind): string[] {
  const id = ids.at(-1) ?? ''
  if (unknown !== undefined) return [unknown]
  return [
    id.replace(tail, `7${'z'.repeat(25)}`),
    'x',
    id.toUpperCase(),
    `${id}0`,
    id.replace(/^[a-z]+/, 'other'),
    id.replace(tail, ''),
    `${id}'--`,
    `${id}%20`,
    'a'.repeat(2000),
  ]
}
