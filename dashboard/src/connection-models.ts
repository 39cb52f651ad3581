import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, json } from './api'

const oneConnection = api.connections[':id']

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: async () => (await oneConnection.$get({ param: { id } })).json(),
  })

const pageSize = 10

async function modelsAt(id: string, cursor: string | undefined) {
  const query = { limit: String(pageSize), ...(cursor !== undefined && { cursor }) }
  const asked = { param: { id }, query }
  return (await oneConnection.models.$get(asked)).json()
}

/** What may be called by a connection, and what it costs, by name. */
export const connectionModelsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['connections', 'models', id],
    queryFn: ({ pageParam }) => modelsAt(id, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.pagination.next_cursor ?? undefined,
  })

export type ConnectionModel = Awaited<ReturnType<typeof modelsAt>>['models'][number]

type Pricing = NonNullable<ConnectionModel['pricing']>

/** The parts of a price that are seldom set, as they are named in words. */
const seldom = [
  ['cached_input', 'input out of the cache'],
  ['cache_write', 'input into the cache'],
  ['cache_write_1h', 'input into the cache for an hour'],
  ['reasoning', 'reasoning'],
  ['audio_input', 'spoken input'],
  ['audio_output', 'spoken output'],
  ['image_input', 'images as input'],
  ['image_output', 'images as output'],
] as const

/** What is set of those, in USD for 1,000,000 tokens. */
export const seldomPartsOf = (pricing: Pricing | null) =>
  seldom.flatMap(([part, name]) => {
    const usd = pricing?.[part] ?? null
    return usd === null ? [] : [{ part, name, usd }]
  })

interface Price {
  input: number
  output: number
}

/** Sets what a model costs that only the connection has; null for nothing. Parts that are seldom set stay. */
export async function setPrice(
  id: string,
  model: ConnectionModel,
  price: Price | null,
): Promise<void> {
  const rest = seldomPartsOf(model.pricing).map(({ part, usd }) => [part, usd] as const)
  const pricing = price && { ...Object.fromEntries(rest), ...price }
  await oneConnection.models.pricing.$put({ param: { id } }, json({ model: model.id, pricing }))
}
