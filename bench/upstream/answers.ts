/** The answer of one model, built once, so that an answer costs little more than its writes. */
export interface Canned {
  /** Plain answers are one piece with a length; streams one piece an event, framed as HTTP chunks. */
  pieces: Buffer[]
  /** Milliseconds between two pieces of a stream; 0 for one piece a turn of the event loop. */
  gapMs: number
  /** The billed part of the prompt, at the price of its tokens; of speech, the characters. */
  promptTokens: number
  completionTokens: number
}

/** Pieces with output in each stream. */
export const chunksOfStream = 100
const vectors = 64
const dimensions = 512
const created = 1_780_000_000

const usageOf = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
})

function completeAnswer(body: object): Buffer[] {
  const json = JSON.stringify(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n`
  return [Buffer.from(head + json)]
}

const framed = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n' +
  'cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'

/** Builds a chat stream as OpenAI sends it: the role, the deltas, the finish reason, the usage, `[DONE]`. */
function stream(deltas: object[], finishReason: string, usage: object): Buffer[] {
  const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created, model: 'bench' }
  const eventOf = (data: object) => `data: ${JSON.stringify({ ...base, ...data })}\n\n`
  const chunkOf = (delta: object, finish_reason: string | null = null) =>
    eventOf({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
  const first = { role: 'assistant', content: '', refusal: null }
  const last = [
    framed(chunkOf({}, finishReason)),
    framed(eventOf({ choices: [], usage })),
    framed('data: [DONE]\n\n'),
    '0\r\n\r\n',
  ]
  return [
    streamHead + framed(chunkOf(first)),
    ...deltas.map((delta) => framed(chunkOf(delta))),
    last.join(''),
  ].map((piece) => Buffer.from(piece))
}

/** Builds two tool calls, their arguments streamed in pieces. */
function toolDeltas(): object[] {
  return [0, 1].flatMap((index) => {
    const begun = { name: 'get_weather', arguments: '' }
    const call = { index, id: `call_bench_${index}`, type: 'function', function: begun }
    const pieces = Array.from({ length: chunksOfStream / 2 - 1 }, (_, piece) =>
      piece === 0 ? '{"city":"' : piece === chunksOfStream / 2 - 2 ? '"}' : 'Paris ',
    )
    const rest = pieces.map((piece) => ({ index, function: { arguments: piece } }))
    return [call, ...rest].map((tool_call) => ({ tool_calls: [tool_call] }))
  })
}

function chat(promptTokens: number): Canned {
  const completionTokens = 120
  const message = { role: 'assistant', content: 'Word '.repeat(120), refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const usage = usageOf(promptTokens, completionTokens)
  const base = { id: 'chatcmpl-bench', object: 'chat.completion', created, model: 'bench' }
  const pieces = completeAnswer({ ...base, choices, usage })
  return { pieces, gapMs: 0, promptTokens, completionTokens }
}

function textStream(gapMs: number): Canned {
  const [promptTokens, completionTokens] = [200, chunksOfStream]
  const deltas = Array.from({ length: chunksOfStream }, () => ({ content: 'word ' }))
  const pieces = stream(deltas, 'stop', usageOf(promptTokens, completionTokens))
  return { pieces, gapMs, promptTokens, completionTokens }
}

function tools(): Canned {
  const [promptTokens, completionTokens] = [200, chunksOfStream]
  const pieces = stream(toolDeltas(), 'tool_calls', usageOf(promptTokens, completionTokens))
  return { pieces, gapMs: 0, promptTokens, completionTokens }
}

function embeddings(): Canned {
  const promptTokens = 640
  const vector = Float32Array.from({ length: dimensions }, (_, index) => Math.sin(index) / 16)
  const embedding = Buffer.from(vector.buffer).toString('base64')
  const data = Array.from({ length: vectors }, (_, index) => ({
    object: 'embedding',
    index,
    embedding,
  }))
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  const pieces = completeAnswer({ object: 'list', data, model: 'bench', usage })
  return { pieces, gapMs: 0, promptTokens, completionTokens: 0 }
}

/** The characters that the scenario of speech sends. */
export const spokenCharacters = 900
const soundPieces = 40
const soundPieceBytes = 4096
const imageBytes = 1 << 20

/** Builds an image of about 1 MB, in base64, with the tokens that OpenAI counts for this size and quality. */
function image(): Canned {
  const [promptTokens, completionTokens] = [200, 1056]
  const usage = {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    input_tokens_details: { text_tokens: promptTokens, image_tokens: 0 },
  }
  const data = [{ b64_json: 'iVBORw0K'.repeat(imageBytes / 8) }]
  const pieces = completeAnswer({ created, data, output_format: 'png', usage })
  return { pieces, gapMs: 0, promptTokens, completionTokens }
}

/** Builds sound that is streamed: bytes without a carriage return, which the load would take for the end. */
function speech(): Canned {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n'
  const sound = framed('s'.repeat(soundPieceBytes))
  const sounds = Array.from({ length: soundPieces }, () => sound)
  const pieces = [head + sound, ...sounds.slice(1), '0\r\n\r\n'].map((piece) => Buffer.from(piece))
  return { pieces, gapMs: 0, promptTokens: spokenCharacters, completionTokens: 0 }
}

function transcription(): Canned {
  const [promptTokens, completionTokens] = [1250, 120]
  const usage = {
    type: 'tokens',
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    input_token_details: { text_tokens: 0, audio_tokens: promptTokens },
  }
  const pieces = completeAnswer({ text: 'word '.repeat(120), usage })
  return { pieces, gapMs: 0, promptTokens, completionTokens }
}

/** All models of the provider, by name. */
export const canned: Record<string, Canned> = {
  plain: chat(200),
  long: chat(20_000),
  'stream-0': textStream(0),
  'stream-10': textStream(10),
  quiet: textStream(1000),
  tools: tools(),
  embed: embeddings(),
  image: image(),
  speech: speech(),
  transcription: transcription(),
}
