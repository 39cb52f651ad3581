import { getImageFormat, toInputField } from './embedding-images'
import type { RelayTarget } from './request'
import { isFailure } from '../event'
import { readTaskType, refuseTask, toTaskName } from '../task-type'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { taskFields, type EmbeddingInput } from '../../wire/embedding-request'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'
import { readUsage, type Usage } from '../../wire/usage'

export type EncodingFormat = 'float' | 'base64'

/** One embedding, in the form that the caller requested. */
type Embedding = number[] | string

/** The upstream request for one batch of inputs. Throws `invalid_request` for a task type that is not there. */
export function toUpstreamEmbedding(
  request: JsonObject,
  inputs: EmbeddingInput,
  { upstreamModel, options }: RelayTarget,
): JsonObject {
  const { embeddings } = options
  const { dimensions, encoding_format: format, input: _input, ...rest } = request
  const body: JsonObject = { ...embeddings.defaults }
  for (const [name, value] of Object.entries(rest)) if (value !== null) body[name] = value
  body['model'] = upstreamModel
  Object.assign(body, toInputField(inputs, getImageFormat(options, upstreamModel)))
  setTask(body, request, { upstreamModel, options })
  if (typeof dimensions === 'number') body[embeddings.dimensionsField] = dimensions
  if (embeddings.base64 && format === 'base64') body['encoding_format'] = 'base64'
  for (const name of options.drop) delete body[name]
  return body
}

/** Puts the task type into the provider's field, in its word. */
function setTask(
  body: JsonObject,
  request: JsonObject,
  { upstreamModel, options }: RelayTarget,
): void {
  const task = readTaskType(request)
  const { tasks } = options.embeddings
  if (!task || tasks === undefined) return
  if (tasks === null) throw refuseTask(task)
  for (const field of taskFields) delete body[field]
  const [firstPrefix = ''] = Object.keys(tasks.words)
    .filter((beginning) => upstreamModel.startsWith(beginning))
    .toSorted((a, b) => b.length - a.length)
  body[tasks.field] = toTaskName(task, tasks.words[firstPrefix] ?? {})
}

/** Little-endian 32-bit floats as base64, exactly as OpenAI writes them. */
function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * 4)
  return bytes.toString('base64')
}

function toFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) =>
    bytes.readFloatLE(index * 4),
  )
}

/** Returns an embedding in the requested format, whatever the provider delivered; undefined if it is none. */
export function toFormat(embedding: unknown, format: EncodingFormat): Embedding | undefined {
  if (typeof embedding === 'string') return format === 'base64' ? embedding : toFloats(embedding)
  if (!Array.isArray(embedding)) return undefined
  const numbers: number[] = []
  for (const value of embedding) {
    if (typeof value !== 'number') return undefined
    numbers.push(value)
  }
  return format === 'base64' ? toBase64(numbers) : numbers
}

/** Voyage counts texts and all together: the difference are the tokens of images. */
function withImageTokens(block: unknown): unknown {
  if (!isObject(block) || block['image_pixels'] === undefined) return block
  const { text_tokens: texts, total_tokens: total } = block
  if (typeof texts !== 'number' || typeof total !== 'number') return block
  return { ...block, prompt_tokens_details: { image_tokens: total - texts } }
}

/** Reads the answer to one batch: its embeddings in input order, and its usage if it has one. */
export function readEmbeddings(
  answer: unknown,
  expected: { count: number; format: EncodingFormat },
  source: ErrorSource,
): { embeddings: Embedding[]; usage: Usage | undefined } {
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  if (isFailure(answer)) throw toCallerError({ status: 200, body: answer }, source)
  const data = toObjects(answer['data'])
  const byIndex = new Map<number, Embedding | undefined>()
  for (const [position, item] of data.entries()) {
    const index = Number.isInteger(item['index']) ? Number(item['index']) : position
    byIndex.set(index, toFormat(item['embedding'], expected.format))
  }
  const embeddings: Embedding[] = []
  for (let index = 0; index < expected.count; index++) {
    const embedding = byIndex.get(index)
    if (embedding === undefined) {
      throw invalidAnswer(source.provider, 'a response without all embeddings')
    }
    embeddings.push(embedding)
  }
  return { embeddings, usage: readUsage(withImageTokens(answer['usage']), 'inside') }
}
