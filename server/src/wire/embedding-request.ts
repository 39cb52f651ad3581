import { z } from 'zod'
import { modelField, tokenIds, userField } from './fields'
import { sparse } from './sparse'

const words = z.string().min(1)
const most = 2048

const Input = z.union([
  words,
  z.array(words).min(1).max(most),
  tokenIds,
  z.array(tokenIds).min(1).max(most),
])

/** `POST /v1/embeddings`. Source: api.md 4.5. */
export const EmbeddingRequest = sparse(
  z.looseObject({
    model: modelField,
    input: Input,
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish(),
    user: userField,
  }),
)
export type EmbeddingRequest = z.output<typeof EmbeddingRequest>

/** What an embedding request asks for, item by item: texts, or token ids. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[]

const isOneTokenArray = (items: readonly unknown[]): items is readonly number[] =>
  typeof items[0] === 'number'

/** The four forms of `input` as one list. */
export function toInputs(input: EmbeddingRequest['input']): EmbeddingInput {
  if (typeof input === 'string') return [input]
  return isOneTokenArray(input) ? [input] : input
}
