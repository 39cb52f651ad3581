import { z } from 'zod'
import type { Model } from '../../../catalog/model'

/** The query parameters that order the catalogue. */
export const sortFields = {
  sort: z
    .enum(['id', 'name', 'context_length', 'input_price', 'output_price'])
    .optional()
    .describe('The field that orders the list; without it, models are listed by descending id'),
  order: z
    .enum(['asc', 'desc'])
    .default('asc')
    .describe('The direction of `sort`; models without the field are last in both'),
}

interface ModelOrder {
  sort?: z.output<typeof sortFields.sort>
  order: z.output<typeof sortFields.order>
}

type SortedValue = string | number | bigint | null

const sortedValues: Readonly<
  Record<NonNullable<ModelOrder['sort']>, (model: Model) => SortedValue>
> = {
  id: ({ id }) => id,
  name: ({ name }) => name.toLowerCase(),
  context_length: ({ contextLength }) => contextLength,
  input_price: ({ isFree, pricing }) => (isFree ? 0n : (pricing?.input ?? null)),
  output_price: ({ isFree, pricing }) => (isFree ? 0n : (pricing?.output ?? null)),
}

function compare(one: SortedValue, other: SortedValue, sign: 1 | -1): number {
  if (one === other) return 0
  if (one === null) return 1
  if (other === null) return -1
  return one < other ? -sign : sign
}

/** Returns models in the order of a query, those of equal value by their ids; `models` is ordered by ascending id. */
export function sortCatalogueModels(
  models: readonly Model[],
  { sort, order }: ModelOrder,
): Model[] {
  if (sort === undefined) return models.toReversed()
  const valueOf = sortedValues[sort]
  const sign = order === 'asc' ? 1 : -1
  return models.toSorted((one, other) => compare(valueOf(one), valueOf(other), sign))
}
