import type { Context } from 'hono'
import { maxCount } from './discovery'
import { parseFilter } from './filter'
import { Projection } from './resources'
import { badRequest } from './scim-error'
import type { ListRequest } from './user-rows'
import type { Env } from '../http/env'

const defaultCount = 100
const maxStart = 1_000_000

/** Returns a whole number of a query: one that is too small or too large becomes the nearest. Source: RFC 7644 3.4.2.4. */
function toNumber(text: string | undefined, fallback: number, [min, max]: [number, number]) {
  if (text === undefined) return fallback
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest('invalidValue', 'A whole number is expected.')
  return Math.min(max, Math.max(min, Number(text)))
}

/** Reads the query of a list. Throws `invalidFilter`, `invalidValue`. */
export function toListRequest({ req }: Context<Env>): ListRequest {
  const filter = req.query('filter')
  return {
    conditions: filter === undefined ? [] : parseFilter(filter),
    startIndex: toNumber(req.query('startIndex'), 1, [1, maxStart]),
    count: toNumber(req.query('count'), defaultCount, [0, maxCount]),
  }
}

/** Reads which attributes an answer has. Throws `invalidValue`. */
export const toProjection = ({ req }: Context<Env>) =>
  new Projection(req.query('attributes'), req.query('excludedAttributes'))
