import type { Behaviour, Call, Json } from './call'
import { numberOf } from './call'
import { errorBody } from './behaviours/statuses'
import { usageOf } from './answer'

const defaultDimensions = 8

/** Deterministic: the same input has the same vector, of length 1 like the real ones. */
export function vectorOf(input: unknown, dimensions: number): number[] {
  let state = BigInt.asUintN(32, BigInt(Bun.hash.crc32(JSON.stringify(input)) || 1))
  const raw = Array.from({ length: dimensions }, () => {
    state = BigInt.asUintN(32, state * 1664525n + 1013904223n)
    return Number(state) / 2 ** 31 - 1
  })
  const length = Math.hypot(...raw) || 1
  return raw.map((value) => Math.fround(value / length))
}

/** A list of texts or token arrays; a lone one of either becomes a list of one. */
function inputsOf({ input }: Json): unknown[] {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
}

const toBase64 = (vector: number[]) =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64')

/** An embedding list. `formats` false answers floats whatever was asked for. */
async function embed(call: Call, formats: boolean): Promise<void> {
  const { body } = call.received
  const requested = body['dimensions'] ?? body['output_dimension']
  const dimensions = typeof requested === 'number' ? requested : defaultDimensions
  const asBase64 = formats && body['encoding_format'] === 'base64'
  const data = inputsOf(body).map((input, index) => {
    const vector = vectorOf(input, dimensions)
    return { object: 'embedding', index, embedding: asBase64 ? toBase64(vector) : vector }
  })
  const { prompt_tokens, total_tokens } = usageOf(call.attempt.promptTokens, 0)
  call.attempt.answered = true
  const usage = { prompt_tokens, total_tokens }
  await call.reply.json(200, { object: 'list', data, model: call.attempt.model, usage })
  call.attempt.complete = true
}

/** Refuses more inputs than the argument says, as providers with small batches do. */
const batch: Behaviour = async (call) => {
  const limit = numberOf(call, 1)
  if (inputsOf(call.received.body).length <= limit) return embed(call, true)
  const message = `At most ${limit} inputs are allowed per request.`
  const refusal = { type: 'invalid_request_error', code: null, message, param: 'input' }
  await call.reply.json(400, errorBody(refusal))
}

/** Behaviours only embeddings have; `ok` among them, as a vector is no text. */
export const embeddings: Record<string, Behaviour> = {
  ok: (call) => embed(call, true),
  'embed-floats-only': (call) => embed(call, false),
  'embed-batch': batch,
}
