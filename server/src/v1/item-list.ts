import { z } from 'zod'
import { invalidRequest } from '../errors'

const defaultLimit = 20
const maxLimit = 100

/** An item as the API shows it. */
export const ListedItem = z.looseObject({ id: z.string(), type: z.string() })

export const ResponseItemList = z
  .object({
    object: z.literal('list'),
    data: z.array(ListedItem),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ ref: 'ResponseItemList' })

/** The query parameters of a list of items, for its description. */
export const itemPaging = [
  {
    name: 'limit',
    in: 'query' as const,
    schema: { type: 'integer' as const, minimum: 1, maximum: maxLimit, default: defaultLimit },
  },
  {
    name: 'order',
    in: 'query' as const,
    schema: { type: 'string' as const, enum: ['asc', 'desc'], default: 'desc' },
  },
  {
    name: 'after',
    in: 'query' as const,
    description: 'The id of an item; those behind it follow',
    schema: { type: 'string' as const, maxLength: 256 },
  },
]

/** The requested part of a list of items. */
export interface ItemQuery {
  limit: number
  order: 'asc' | 'desc'
  after: string | undefined
}

/** Reads the query of a list. Throws `invalid_request`. The latest come first unless `order` is `asc`. */
export function itemQuery(query: Readonly<Record<string, string>>): ItemQuery {
  const { order = 'desc', after } = query
  const limit = Number(query['limit'] ?? defaultLimit)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalidRequest('limit', 'out_of_range', `limit: must be 1 to ${maxLimit}.`)
  }
  if (order !== 'asc' && order !== 'desc') {
    throw invalidRequest('order', 'unknown_value', 'order: must be "asc" or "desc".')
  }
  return { limit, order, after }
}

export const toItemList = <Item extends { id: string }>(data: Item[], hasMore: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
})
