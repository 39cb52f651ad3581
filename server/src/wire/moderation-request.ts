import { z } from 'zod'
import { imageAddress } from './content-parts'
import type { EmbeddingItem } from './embedding-request'
import { maybe, modelField, text } from './fields'
import { toSparse } from './sparse'

const NonEmptyText = z.string().min(1)
const maxInputs = 2048
/** Parts of one input; OpenAI takes one image. */
const maxInputParts = 256

const Part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: NonEmptyText }),
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.looseObject({ url: imageAddress }),
  }),
])
export type ModerationPart = z.output<typeof Part>

const Input = z
  .union([
    NonEmptyText,
    z.array(NonEmptyText).min(1).max(maxInputs),
    z.array(Part).min(1).max(maxInputParts),
  ])
  .describe('A text, texts, each with a result of its own, or the parts of one input')

/** `POST /v1/moderations`, once it has a model. Source: contract 4.11. */
export const ModerationRequest = toSparse(z.looseObject({ model: modelField, input: Input }))
export type ModerationRequest = z.output<typeof ModerationRequest>

/** The request as callers may send it. */
export const CallerModeration = z.looseObject({
  input: Input,
  model: maybe(text(256, 1)).describe(
    '`<provider>/<model>`; by default the first model for moderation that the key may call, of real ones where there are any',
  ),
})

const isText = (item: string | ModerationPart): item is string => typeof item === 'string'

/** The forms of `input` as one list, each item with a result of its own. */
export function toModerationItems(input: ModerationRequest['input']): EmbeddingItem[] {
  if (typeof input === 'string') return [input]
  const texts = input.filter(isText)
  if (texts.length > 0) return texts
  const parts = input.flatMap((part) => (isText(part) ? [] : [part]))
  return [
    {
      parts: parts.map((part) =>
        part.type === 'text' ? { text: part.text } : { image: part.image_url.url },
      ),
    },
  ]
}
