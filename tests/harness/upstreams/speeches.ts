import { errorBody } from './behaviours/statuses'
import { isJson, numberOf, type Behaviour, type Call, type Json } from './call'
import { countTokens } from './tokens'

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

const bytesPerWord = 4800
const pieceBytes = 2000
/** The tokens that OpenAI and Gemini count for the sound of a word. */
const tokensPerWord = 5

const textIn = ({ input, text }: Json): string => String(input ?? text)
const wordsOf = (text: string): number => text.trim().split(/\s+/).length

/** The sound of a text: each of its bytes tells its place, and none of it is text. */
export const soundOf = (text: string): Buffer =>
  Buffer.from(
    Uint8Array.from({ length: wordsOf(text) * bytesPerWord }, (_, at) => 128 + (at % 127)),
  )

export const spokenTokens = (text: string) => ({
  input: countTokens(text),
  output: wordsOf(text) * tokensPerWord,
})

function* piecesOf(sound: Buffer): Generator<Buffer> {
  for (let at = 0; at < sound.length; at += pieceBytes) yield sound.subarray(at, at + pieceBytes)
}

function begin({ attempt, reply }: Call, type: string): void {
  attempt.answered = true
  reply.head(200, { headers: { 'content-type': type } })
}

/** Sends bytes, up to a number of them. */
async function sendBytes(call: Call, type: string, sound: Buffer): Promise<void> {
  begin(call, type)
  for (const piece of piecesOf(sound)) await call.reply.body(piece)
}

async function end(call: Call): Promise<void> {
  await call.reply.finish()
  call.attempt.complete = true
}

const event = (value: Json) => `data: ${JSON.stringify(value)}\n\n`

async function sendDeltas(call: Call, sound: Buffer): Promise<void> {
  begin(call, 'text/event-stream')
  for (const piece of piecesOf(sound)) {
    await call.reply.body(event({ type: 'speech.audio.delta', audio: piece.toString('base64') }))
  }
}

function typeAsked({ received }: Call): string {
  const { response_format: format } = received.body
  return types[typeof format === 'string' ? format : 'mp3'] ?? ''
}

const wantsEvents = ({ received }: Call) => received.body['stream_format'] === 'sse'

/** https://platform.openai.com/docs/api-reference/audio/createSpeech */
const asOpenAi: Behaviour = async (call) => {
  const text = textIn(call.received.body)
  const sound = soundOf(text)
  if (!wantsEvents(call)) {
    await sendBytes(call, typeAsked(call), sound)
    return end(call)
  }
  await sendDeltas(call, sound)
  const { input, output } = spokenTokens(text)
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  await call.reply.body(event({ type: 'speech.audio.done', usage }))
  await end(call)
}

/** A server without events: it ignores the field. */
const bytesOnly: Behaviour = async (call) => {
  await sendBytes(call, typeAsked(call), soundOf(textIn(call.received.body)))
  await end(call)
}

const refusesEvents: Behaviour = async (call) => {
  if (!wantsEvents(call)) return bytesOnly(call)
  const message = "Extra inputs are not permitted: 'stream_format'"
  await call.reply.json(422, errorBody({ type: 'invalid_request_error', code: null, message }))
}

/** Half of the sound, and then something. */
const afterHalf =
  (then: (call: Call) => Promise<void>): Behaviour =>
  async (call) => {
    const sound = soundOf(textIn(call.received.body))
    const half = sound.subarray(0, sound.length / 2)
    await (wantsEvents(call) ? sendDeltas(call, half) : sendBytes(call, typeAsked(call), half))
    await then(call)
  }

const lost = async ({ reply }: Call) => {
  await reply.connection.sleep(20)
  reply.connection.close()
}

const megabyte = 1024 * 1024

const long: Behaviour = async (call) => {
  begin(call, 'audio/mpeg')
  const piece = Buffer.alloc(64 * 1024, 200)
  for (let sent = 0; sent < numberOf(call, 1) * megabyte; sent += piece.length)
    await call.reply.body(piece)
  await end(call)
}

/** Behaviours that only speech has, in OpenAI's form. */
export const speeches: Record<string, Behaviour> = {
  ok: asOpenAi,
  'speech-bytes': bytesOnly,
  'speech-refuses': refusesEvents,
  'speech-cut': afterHalf(lost),
  'speech-held': afterHalf((call) => call.hold()),
  'speech-uncounted': async (call) => {
    await sendDeltas(call, soundOf(textIn(call.received.body)))
    await call.reply.body(event({ type: 'speech.audio.done' }))
    await end(call)
  },
  'speech-unended': async (call) => {
    await sendDeltas(call, soundOf(textIn(call.received.body)))
    await end(call)
  },
  'speech-silent': async (call) => {
    begin(call, 'audio/mpeg')
    await end(call)
  },
  'speech-page': (call) => call.reply.whole(200, '<html></html>', { 'content-type': 'text/html' }),
  'speech-long': long,
}

const hasOnly = (body: Json, names: readonly string[]) =>
  Object.keys(body).every((name) => names.includes(name))

/** https://developers.deepgram.com/reference/text-to-speech/speak-request */
const asDeepgram: Behaviour = async (call) => {
  const { body, query, headers } = call.received
  const encoding = query.get('encoding') ?? 'mp3'
  if (!headers['authorization']?.startsWith('Token ')) {
    const refusal = { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }
    return call.reply.json(401, refusal)
  }
  if (!hasOnly(body, ['text']) || textIn(body).length > 2000) {
    const refusal = { err_code: 'Bad Request', err_msg: 'Input text exceeds maximum limit.' }
    return call.reply.json(400, refusal)
  }
  const type =
    encoding === 'linear16' ? `audio/l16;rate=${query.get('sample_rate')}` : types[encoding]
  await sendBytes(call, type ?? '', soundOf(textIn(body)))
  await end(call)
}

/** https://elevenlabs.io/docs/api-reference/text-to-speech/stream */
const asElevenLabs: Behaviour = async (call) => {
  const { body, query, headers } = call.received
  const [codec = ''] = (query.get('output_format') ?? '').split('_')
  if (headers['xi-api-key'] === undefined || !(codec in types)) {
    const detail = { status: 'invalid_api_key', message: 'Invalid API key' }
    return call.reply.json(401, { detail })
  }
  if (!hasOnly(body, ['text', 'model_id', 'voice_settings'])) {
    return call.reply.json(422, { detail: [{ loc: ['body'], msg: 'Extra inputs', type: 'extra' }] })
  }
  await sendBytes(call, types[codec] ?? '', soundOf(textIn(body)))
  await end(call)
}

const partsIn = (body: Json): string => {
  const contents = body['contents']
  const content: unknown = Array.isArray(contents) ? contents[0] : undefined
  const parts = isJson(content) ? content['parts'] : undefined
  const part: unknown = Array.isArray(parts) ? parts[0] : undefined
  return isJson(part) ? String(part['text']) : ''
}

/** https://ai.google.dev/gemini-api/docs/speech-generation: PCM in base64, with counts in each event. */
const geminiAnswer =
  (pause: (call: Call) => Promise<void>): Behaviour =>
  async (call) => {
    const text = partsIn(call.received.body)
    const config = call.received.body['generationConfig']
    if (!isJson(config) || String(config['responseModalities']) !== 'AUDIO') {
      const message = 'The requested combination of response modalities is not supported.'
      return call.reply.json(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
    }
    const { input, output } = spokenTokens(text)
    const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output }
    begin(call, 'text/event-stream')
    for (const [index, piece] of [...piecesOf(soundOf(text))].entries()) {
      if (index === 1) await pause(call)
      const mimeType = 'audio/L16;codec=pcm;rate=24000'
      const inlineData = { mimeType, data: piece.toString('base64') }
      const content = { role: 'model', parts: [{ inlineData }] }
      await call.reply.body(event({ candidates: [{ content, index: 0 }], usageMetadata }))
    }
    const last = { finishReason: 'STOP', index: 0 }
    await call.reply.body(event({ candidates: [last], usageMetadata }))
    await end(call)
  }

/** Behaviours of the formats of other providers, by the end of their paths. */
export const foreignSpeeches: readonly (readonly [string, Record<string, Behaviour>])[] = [
  ['/speak', { ok: asDeepgram }],
  ['/stream', { ok: asElevenLabs }],
  [
    ':streamGenerateContent',
    {
      ok: geminiAnswer(() => Promise.resolve()),
      'speech-held': geminiAnswer((call) => call.hold()),
    },
  ],
]

/** The behaviour that a request for speech in the format of another provider names; undefined for other requests. */
export function speechModelOf(path: string, body: Json): string | undefined {
  if (path === '/v1/speak') return 'ok'
  if (/^\/v1\/text-to-speech\/[\w-]+\/stream$/.test(path)) return String(body['model_id'])
  return /^\/v1\/models\/([^/:]+):streamGenerateContent$/.exec(path)?.[1]
}
