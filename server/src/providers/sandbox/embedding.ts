import { createHash } from 'node:crypto'
import { requireModel } from './models'
import { EmbeddingsRequest, parse } from './request'
import { countPromptTokens } from './text'

const fullSize = 256

/** Brings a vector to length 1. */
function normalise(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}

/**
 * A unit vector that depends on nothing but the text: close texts are not close here. A shorter one is
 * the beginning of the full one, brought to length 1 again.
 */
export function embed(text: string, dimensions = fullSize): Float32Array {
  let block = createHash('sha256').update(text).digest()
  const values: number[] = []
  while (values.length < dimensions) {
    // 16 numbers from -1 to 1 out of each block; the half makes sure that none is zero.
    for (let at = 0; at < block.length; at += 2) {
      values.push((block.readUInt16LE(at) + 0.5) / 32_768 - 1)
    }
    block = createHash('sha256').update(block).digest()
  }
  return normalise(values.slice(0, dimensions))
}

function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

/** `POST /embeddings`. Throws `Refusal`. */
export function answerEmbeddings(body: unknown): Response {
  const request = parse(EmbeddingsRequest, body)
  requireModel(request.model, 'embedding')
  const inputs = typeof request.input === 'string' ? [request.input] : request.input
  const data = inputs.map((text, index) => {
    const vector = embed(text, request.dimensions ?? fullSize)
    const embedding = request.encoding_format === 'base64' ? toBase64(vector) : Array.from(vector)
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce((sum, text) => sum + countPromptTokens(text), 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return Response.json({ object: 'list', data, model: request.model, usage })
}
