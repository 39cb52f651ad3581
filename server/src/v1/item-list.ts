import { z } from 'zod'

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

/** The query of a list of items. The latest come first unless `order` is `asc`. */
export const ItemQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('Maximum number of items on the page'),
  order: z.enum(['asc', 'desc']).default('desc').describe('`desc`: the latest first'),
  after: z.string().max(256).optional().describe('Only items after the one with this id'),
})
export type ItemQuery = z.output<typeof ItemQuery>

export const toItemList = <Item extends { id: string }>(data: Item[], hasMore: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
})
