import { type Json, isJson } from './call'

/** One model the provider offers. Prices are USD per 1,000,000 tokens. */
export interface CatalogueModel {
  id: string
  input: number
  output: number
}

/** Prices of a model the catalogue does not name, so that every behaviour can be billed. */
export const defaultPrices = { input: 1, output: 4 }

export const defaultCatalogue: CatalogueModel[] = [
  'ok',
  'rate-20',
  'reasoning',
  'tool-fragments',
].map((id) => ({ id, ...defaultPrices }))

/** The body of `PUT /__catalogue`: `{models: [{id, input, output}]}`. What does not fit is left out. */
export function readCatalogue({ models }: Json): CatalogueModel[] {
  const list = Array.isArray(models) ? models.filter(isJson) : []
  return list.map(({ id, input, output }) => ({
    id: String(id),
    input: Number(input),
    output: Number(output),
  }))
}

/** The answer of `GET /v1/models`: OpenAI's list with a `pricing` beside each model. */
export const publishedModels = (catalogue: readonly CatalogueModel[]) => ({
  object: 'list',
  data: catalogue.map(({ id, input, output }) => ({
    id,
    object: 'model',
    created: 1_780_000_000,
    owned_by: 'fake',
    context_length: 128_000,
    pricing: { input, output },
  })),
})
