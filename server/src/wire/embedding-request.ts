import { z } from 'zod'
import { imageAddress } from './content-parts'
import { maxParts, maybe, modelField, text, tokenIds, userField } from './fields'
import { toSparse } from './sparse'

const NonEmptyText = z.string().min(1)
const maxInputs = 2048

const Part = z.union([
  z.looseObject({ type: z.literal('text'), text: NonEmptyText }),
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.union([imageAddress, z.looseObject({ url: imageAddress })]),
  }),
])

/** One input of several parts, which get one vector together, or of one part in Jina's words. */
const RawParts = z.union([
  z.looseObject({ content: z.array(Part).min(1).max(maxParts) }),
  z.looseObject({ text: NonEmptyText }),
  z.looseObject({ image: imageAddress }),
])

const Input = z.union([
  NonEmptyText,
  z.array(NonEmptyText).min(1).max(maxInputs),
  tokenIds,
  z.array(tokenIds).min(1).max(maxInputs),
  z
    .array(z.union([NonEmptyText, RawParts]))
    .min(1)
    .max(maxInputs),
])

/** Names that clients use for a task type: ours first, which is Cohere's, Voyage's and OpenRouter's. */
export const taskFields = ['input_type', 'task_type', 'taskType', 'task'] as const

const taskType = maybe(text(64, 1))

/** `POST /v1/embeddings`. Source: contract 4.5. */
export const EmbeddingRequest = toSparse(
  z.looseObject({
    model: modelField,
    input: Input.describe(
      'Texts, token ids, or objects with the parts of one input: ' +
        '`{"content": [{"type": "text", "text": …}, {"type": "image_url", "image_url": {"url": …}}]}`',
    ),
    input_type: taskType.describe(
      'Purpose of the vectors: `search_query`, `search_document`, `classification`, `clustering`, ' +
        '`semantic_similarity`, `question_answering`, `fact_verification`, `code_query`, `code_document`, ' +
        "or the provider's own word. `task_type`, `taskType` and `task` are the same",
    ),
    task_type: taskType,
    taskType,
    task: taskType,
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish(),
    user: userField,
  }),
)
export type EmbeddingRequest = z.output<typeof EmbeddingRequest>

/** A piece of an input: a text, or an image by its address or data URL. */
export type EmbeddingPart = { text: string } | { image: string }

/** An input of several parts, or of an image: all of it gets one vector. */
export interface PartedInput {
  parts: readonly EmbeddingPart[]
}

export type EmbeddingItem = string | PartedInput

/** The inputs of an embedding request, item by item: texts and images, or token ids. */
export type EmbeddingInput = readonly EmbeddingItem[] | readonly (readonly number[])[]

const isOneTokenArray = (items: readonly unknown[]): items is readonly number[] =>
  typeof items[0] === 'number'

type RawItem = string | z.output<typeof RawParts>

const isRawItems = (items: readonly unknown[]): items is readonly RawItem[] =>
  !Array.isArray(items[0])

/** The forms of `input` as one list. */
export function toInputs(input: EmbeddingRequest['input']): EmbeddingInput {
  if (typeof input === 'string') return [input]
  if (isOneTokenArray(input)) return [input]
  return isRawItems(input) ? input.map(toItem) : input
}

/** An object that is nothing but one text is that text. */
function toItem(item: RawItem): EmbeddingItem {
  if (typeof item === 'string') return item
  const parts = partsIn(item)
  const [first] = parts
  return parts.length === 1 && first && 'text' in first ? first.text : { parts }
}

function partsIn(item: z.output<typeof RawParts>): EmbeddingPart[] {
  if ('content' in item && Array.isArray(item.content)) return item.content.map(toPart)
  if ('text' in item && typeof item.text === 'string') return [{ text: item.text }]
  return [{ image: String(item['image']) }]
}

function toPart(part: z.output<typeof Part>): EmbeddingPart {
  if (part.type === 'text') return { text: part.text }
  const { image_url: image } = part
  return { image: typeof image === 'string' ? image : image.url }
}

/** The parts of an input, of which a text has one. */
export const partsOf = (item: EmbeddingItem): readonly EmbeddingPart[] =>
  typeof item === 'string' ? [{ text: item }] : item.parts

export const isImage = (part: EmbeddingPart): part is { image: string } => 'image' in part

export const hasImage = (item: EmbeddingItem): boolean => partsOf(item).some(isImage)

/** The texts of all inputs. */
export const textsOf = (inputs: readonly EmbeddingItem[]): string[] =>
  inputs.flatMap(partsOf).flatMap((part) => (isImage(part) ? [] : [part.text]))

/** Returns true where an image is a data URL, false where it is an address to fetch. */
export const isDataUrl = (address: string): boolean => /^data:/i.test(address)

/** Whether all inputs are token ids: they are never mixed with others. */
export const isTokenInput = (inputs: EmbeddingInput): inputs is readonly (readonly number[])[] =>
  Array.isArray(inputs[0])
