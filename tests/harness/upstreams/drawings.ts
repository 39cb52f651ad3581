import { crc32, deflateSync } from 'node:zlib'
import { errorBody } from './behaviours/statuses'
import type { Behaviour, Call, Json } from './call'
import { countTokens } from './tokens'

/** Tokens of an image of OpenAI's models by quality, for a square, a portrait and a landscape. */
const tokensByQuality: Readonly<Record<string, readonly [number, number, number]>> = {
  low: [272, 408, 400],
  medium: [1056, 1584, 1568],
  high: [4160, 6240, 6208],
}
const sizes = ['1024x1024', '1024x1536', '1536x1024']

/** The black images that were drawn, by their size. */
const blackImages = new Map<string, string>()
/** The maximum of an image's data before compression; larger ones end early. */
const maxDataBytes = 1 << 20

/** Returns a black PNG in base64. https://www.w3.org/TR/png-3/ */
export function pngOf(width: number, height: number): string {
  const size = `${width}x${height}`
  const image = blackImages.get(size) ?? drawBlack(width, height)
  blackImages.set(size, image)
  return image
}

function drawBlack(width: number, height: number): string {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // One bit for each pixel, without colours.
  head.writeUInt8(1, 8)
  const data = Buffer.alloc(Math.min(maxDataBytes, height * (1 + Math.ceil(width / 8))))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const chunks = [chunkOf('IHDR', head), chunkOf('IDAT', deflateSync(data)), chunkOf('IEND')]
  return Buffer.concat([signature, ...chunks]).toString('base64')
}

function chunkOf(type: string, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.byteLength)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}

const numberIn = (value: unknown, fallback: number) =>
  typeof value === 'number' ? value : fallback
/** A form has it as a text. */
const countIn = ({ received: { body } }: Call) => numberIn(Number(body['n'] ?? 1), 1)

async function answer(call: Call, body: unknown): Promise<void> {
  call.attempt.answered = true
  await call.reply.json(200, body)
  call.attempt.complete = true
}

const refuse = (call: Call, param: string) =>
  call.reply.json(
    400,
    errorBody({
      type: 'invalid_request_error',
      code: 'unknown_parameter',
      message: `Unknown parameter: '${param}'.`,
      param,
    }),
  )

/** The choice of a model that may choose. */
function chosen({ received: { body } }: Call) {
  const { size, quality } = body
  return {
    size: typeof size === 'string' && size !== 'auto' ? size : '1024x1024',
    quality: typeof quality === 'string' && quality !== 'auto' ? quality : 'high',
  }
}

/** The token counts of an answer. */
function usageOf(call: Call, images: number): Json {
  const { size, quality } = chosen(call)
  const perImage = tokensByQuality[quality]?.[Math.max(0, sizes.indexOf(size))] ?? 0
  const input = countTokens(String(call.received.body['prompt']))
  const output = images * perImage
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
  }
}

const dataOf = (call: Call) => {
  const [width = 1, height = 1] = chosen(call).size.split('x').map(Number)
  return { b64_json: pngOf(width, height) }
}

const frame = (type: string, fields: Json) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

/** The beginning of the names of a stream's events. */
const prefixOf = ({ received: { path } }: Call) =>
  path.endsWith('/edits') ? 'image_edit' : 'image_generation'

/** Opens a stream with the unfinished images that were requested. */
async function openStream(call: Call): Promise<void> {
  const { attempt, received, reply } = call
  attempt.answered = true
  reply.head(200, { headers: { 'content-type': 'text/event-stream' } })
  const head = { created_at: 1_795_219_200, ...chosen(call) }
  const partials = Number(received.body['partial_images'] ?? 0)
  for (let index = 0; index < partials; index += 1) {
    const partial = { ...head, ...dataOf(call), partial_image_index: index }
    await reply.body(frame(`${prefixOf(call)}.partial_image`, partial))
  }
}

/** https://platform.openai.com/docs/api-reference/images-streaming */
async function streamImage(call: Call, usage = usageOf(call, 1)): Promise<void> {
  await openStream(call)
  const image = { created_at: 1_795_219_200, ...chosen(call), ...dataOf(call) }
  await call.reply.body(frame(`${prefixOf(call)}.completed`, { ...image, usage }))
  await call.reply.finish()
  call.attempt.complete = true
}

/** https://platform.openai.com/docs/api-reference/images/create: the models that are paid by token. */
const asGptImage: Behaviour = async (call) => {
  const { body } = call.received
  for (const name of ['response_format', 'style']) if (name in body) return refuse(call, name)
  if (body['stream'] === true) return streamImage(call)
  const count = countIn(call)
  const { size, quality } = chosen(call)
  await answer(call, {
    created: 1_795_219_200,
    background: 'opaque',
    output_format: 'png',
    quality,
    size,
    data: Array.from({ length: count }, () => dataOf(call)),
    usage: usageOf(call, count),
  })
}

/** Those that are paid by the image: addresses by default, and no counts. */
const asDallE: Behaviour = async (call) => {
  const { body } = call.received
  const isData = body['response_format'] === 'b64_json'
  const image = isData ? dataOf(call) : { url: 'https://images.example/one.png' }
  const data = Array.from({ length: countIn(call) }, () => ({
    ...image,
    revised_prompt: `Revised: ${String(body['prompt'])}`,
  }))
  await answer(call, { created: 1_795_219_200, data })
}

/** https://docs.together.ai/reference/post-images-generations */
const asTogether: Behaviour = async (call) => {
  const { body } = call.received
  for (const name of ['size', 'quality', 'style']) if (name in body) return refuse(call, name)
  const { response_format: format } = body
  if (format !== undefined && format !== 'base64' && format !== 'url') {
    return refuse(call, 'response_format')
  }
  const [width, height] = [numberIn(body['width'], 1024), numberIn(body['height'], 1024)]
  const image =
    format === 'base64' ? { b64_json: pngOf(width, height) } : { url: 'https://x.example/1.jpg' }
  const data = Array.from({ length: countIn(call) }, (_, index) => ({ index, ...image }))
  await answer(call, { id: 'oi6bZ', model: call.attempt.model, object: 'list', data })
}

/** https://docs.x.ai/docs/guides/image-generations */
const asXai: Behaviour = async (call) => {
  const { body } = call.received
  for (const name of ['size', 'quality', 'style']) if (name in body) return refuse(call, name)
  const data = Array.from({ length: countIn(call) }, () => ({
    url: 'https://imgen.x.ai/x.jpg',
    revised_prompt: '',
  }))
  await answer(call, { data })
}

/** Addresses at the fake provider itself. */
const byAddress: Behaviour = (call) =>
  answer(call, { created: 1, data: [{ url: 'http://127.0.0.1:9/none.png' }] })

/** Closes the connection within the stream. */
const cutImage: Behaviour = async (call) => {
  await openStream(call)
  call.reply.connection.close()
}

/** Holds the stream once it has begun. */
const heldImage: Behaviour = async (call) => {
  await openStream(call)
  await call.hold()
}

/** Behaviours that only images have. */
export const drawings: Record<string, Behaviour> = {
  ok: asGptImage,
  'draw-address': asDallE,
  'draw-together': asTogether,
  'draw-xai': asXai,
  'draw-unreachable': byAddress,
  'draw-fewer': (call) => answer(call, { created: 1, data: [dataOf(call)] }),
  'draw-none': (call) => answer(call, { created: 1, data: [] }),
  'draw-empty': (call) => answer(call, { created: 1, data: [{}] }),
  'draw-cut': cutImage,
  'draw-error': async (call) => {
    await openStream(call)
    const error = { type: 'image_generation_error', code: 'server_error', message: 'It broke.' }
    await call.reply.body(frame('error', { error }))
    await call.reply.finish()
  },
  'draw-held': heldImage,
  'draw-large': (call) =>
    answer(call, { created: 1, data: [{ b64_json: 'A'.repeat(24 * 1024 * 1024) }] }),
  'draw-too-large': (call) =>
    answer(call, { created: 1, data: [{ b64_json: 'A'.repeat(60 * 1024 * 1024) }] }),
}

/** Tokens of an image that is changed. */
const tokensPerInput = 323

/** https://platform.openai.com/docs/api-reference/images/createEdit, as JSON. */
const editAsGptImage: Behaviour = async (call) => {
  const { images, image } = call.received.body
  if (!Array.isArray(images) || image !== undefined) return refuse(call, 'image')
  await answerEdit(call, images.length)
}

/** The same as a form. */
const editByForm: Behaviour = async (call) => {
  const { images, image, 'image[]': several = image && [image] } = call.received.body
  if (!Array.isArray(several) || images !== undefined) return refuse(call, 'images')
  await answerEdit(call, several.length)
}

const answerEdit = async (call: Call, inputs: number) => {
  const usage = usageOf(call, countIn(call))
  const imageTokens = inputs * tokensPerInput
  const text = Number(usage['input_tokens'])
  const { size, quality } = chosen(call)
  const counted = {
    ...usage,
    total_tokens: Number(usage['total_tokens']) + imageTokens,
    input_tokens: text + imageTokens,
    input_tokens_details: { text_tokens: text, image_tokens: imageTokens },
  }
  // A form has it as a text.
  if (String(call.received.body['stream']) === 'true') return streamImage(call, counted)
  await answer(call, {
    created: 1_795_219_200,
    size,
    quality,
    data: Array.from({ length: countIn(call) }, () => dataOf(call)),
    usage: counted,
  })
}

/** Behaviours that only changes of images have. */
export const edits: Record<string, Behaviour> = {
  ok: editAsGptImage,
  'edit-form': editByForm,
  'draw-xai': asXai,
  'draw-cut': cutImage,
  'draw-held': heldImage,
}

/** https://platform.openai.com/docs/api-reference/images/createVariation: a form, paid by the image. */
const varyAsDallE: Behaviour = async (call) => {
  const { body } = call.received
  const { image, response_format: form } = body
  if (typeof image !== 'object' || image === null) return refuse(call, 'image')
  for (const name of ['images', 'prompt', 'quality', 'stream']) {
    if (name in body) return refuse(call, name)
  }
  const made = form === 'b64_json' ? dataOf(call) : { url: 'https://images.example/one.png' }
  const data = Array.from({ length: countIn(call) }, () => made)
  await answer(call, { created: 1_795_219_200, data })
}

/** Behaviours that only variations of images have. */
export const variations: Record<string, Behaviour> = { ok: varyAsDallE }
