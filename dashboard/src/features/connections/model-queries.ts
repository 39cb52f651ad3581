import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: async () => bodyOf(api.GET('/api/connections/{id}', { params: { path: { id } } })),
  })

const pageSize = 10

async function modelsAt(id: string, cursor: string | undefined) {
  const query = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
  return bodyOf(api.GET('/api/connections/{id}/models', { params: { path: { id }, query } }))
}

/** The models of a connection with their prices, by name. */
export const connectionModelsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['connections', 'models', id],
    queryFn: ({ pageParam }) => modelsAt(id, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.pagination.next_cursor ?? undefined,
  })

export type ConnectionModel = Schemas['ConnectionModel']

type Pricing = NonNullable<ConnectionModel['pricing']>

/** The rarely set parts of a price and their labels. */
const seldom = [
  ['cached_input', 'cached input'],
  ['cache_write', 'cache writes'],
  ['cache_write_1h', 'cache writes (1 h)'],
  ['reasoning', 'reasoning'],
  ['audio_input', 'audio input'],
  ['audio_output', 'audio output'],
  ['image_input', 'image input'],
  ['image_output', 'image output'],
] as const

/** Returns those parts that are set, in USD per 1,000,000 tokens. */
export const rareRatesOf = (pricing: Pricing | null) =>
  seldom.flatMap(([part, name]) => {
    const usd = pricing?.[part] ?? null
    return usd === null ? [] : [{ part, name, usd }]
  })

interface Price {
  input: number
  output: number
}

/** Sets the price of a model that only the connection has; null makes it free. Rarely set parts stay. */
export async function setPrice(
  id: string,
  model: ConnectionModel,
  price: Price | null,
): Promise<void> {
  const rareRates = rareRatesOf(model.pricing).map(({ part, usd }) => [part, usd] as const)
  const pricing = price && { ...Object.fromEntries(rareRates), ...price }
  await api.PUT('/api/connections/{id}/models/pricing', {
    params: { path: { id } },
    body: { model: model.id, pricing },
  })
}
