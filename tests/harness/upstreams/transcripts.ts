import { type Behaviour, type Call, isJson, type Json } from './call'

/** The transcript of every file. */
export const words = ['Hello', 'there.', 'General', 'Kenobi!']
export const text = words.join(' ')

const secondsOf = ({ received }: Call): number => {
  const { file } = received.body
  return isJson(file) ? Number(file['seconds']) : 0
}

/** The words, spread over the file. */
export const timedWords = (seconds: number) =>
  words.map((word, index) => ({
    word,
    start: (index * seconds) / words.length,
    end: ((index + 1) * seconds) / words.length,
  }))

export const halves = (seconds: number) => [
  { text: ' Hello there.', start: 0, end: seconds / 2 },
  { text: ' General Kenobi!', start: seconds / 2, end: seconds },
]

export async function answer(call: Call, body: unknown): Promise<void> {
  call.attempt.answered = true
  await call.reply.json(200, body)
  call.attempt.complete = true
}

/** OpenAI's answer in each requested format. */
function inFormat(call: Call, usage: Json | undefined): Json | undefined {
  const seconds = secondsOf(call)
  const { response_format: format = 'json', 'timestamp_granularities[]': times } =
    call.received.body
  const counted = usage && { usage }
  const segments = halves(seconds)
  switch (format) {
    case 'json':
      return { text, ...counted }
    case 'verbose_json':
      return {
        task: call.received.path.endsWith('translations') ? 'translate' : 'transcribe',
        language: 'english',
        duration: seconds,
        text,
        segments: segments.map((segment, id) => ({ id, seek: 0, tokens: [], ...segment })),
        ...(Array.isArray(times) && times.includes('word') && { words: timedWords(seconds) }),
        ...counted,
      }
    case 'diarized_json':
      return {
        task: 'transcribe',
        duration: seconds,
        text,
        segments: segments.map((one, id) => ({
          type: 'transcript.text.segment',
          id: `seg_${id}`,
          speaker: id === 0 ? 'A' : 'B',
          ...one,
        })),
        ...counted,
      }
    default:
      return undefined
  }
}

const inOpenAiForm = async (call: Call, usage?: Json): Promise<void> => {
  const body = inFormat(call, usage)
  if (body) return answer(call, body)
  const { response_format: format } = call.received.body
  const message = `response_format '${String(format)}' is not compatible with the model.`
  const param = 'response_format'
  await call.reply.json(400, {
    error: { message, type: 'invalid_request_error', param, code: 'unsupported_value' },
  })
}

const duration = (call: Call): Json => ({ type: 'duration', seconds: Math.ceil(secondsOf(call)) })

/** 10 tokens a second, and two for each word. */
const tokens = (call: Call): Json => {
  const input = Math.round(secondsOf(call) * 10)
  return {
    type: 'tokens',
    input_tokens: input + 4,
    input_token_details: { text_tokens: 4, audio_tokens: input },
    output_tokens: 8,
    total_tokens: input + 12,
  }
}

const isStreamed = ({ received }: Call) => received.body['stream'] === 'true'

const deltas = words.map((word, index) => ({
  type: 'transcript.text.delta',
  delta: index === 0 ? word : ` ${word}`,
}))

const toFrame = (event: Json) => `data: ${JSON.stringify(event)}\n\n`

async function stream(call: Call, events: readonly Json[]): Promise<void> {
  call.attempt.answered = true
  call.reply.head(200, { headers: { 'content-type': 'text/event-stream' } })
  for (const event of events) await call.reply.body(toFrame(event))
}

const inTokens: Behaviour = async (call) => {
  if (!isStreamed(call)) return inOpenAiForm(call, tokens(call))
  await stream(call, [...deltas, { type: 'transcript.text.done', text, usage: tokens(call) }])
  await call.reply.finish()
  call.attempt.complete = true
}

/** A chunk as vLLM has it. */
const chunk = (choices: Json[], more: Json = {}): Json => ({
  id: 'trsc-1',
  object: 'transcription.chunk',
  created: 1,
  choices,
  ...more,
})

/** Behaviours of OpenAI's form. Whisper knows no streams, and answers whole. */
export const transcripts: Record<string, Behaviour> = {
  ok: (call) => inOpenAiForm(call, duration(call)),
  'hear-tokens': inTokens,
  // Groq.
  'hear-uncounted': (call) => inOpenAiForm(call),
  'hear-years': (call) => inOpenAiForm(call, { type: 'duration', seconds: 900_000 }),
  'hear-nothing': (call) => answer(call, { texts: [] }),
  /** https://docs.vllm.ai/en/latest/serving/openai_compatible_server */
  'hear-chunks': async (call) => {
    const usage = { prompt_tokens: 44, completion_tokens: 8, total_tokens: 52 }
    await stream(call, [
      ...deltas.map(({ delta: content }) => chunk([{ delta: { content }, finish_reason: null }])),
      chunk([{ delta: { content: '' }, finish_reason: 'stop' }]),
      chunk([], { usage }),
    ])
    await call.reply.body('data: [DONE]\n\n')
    await call.reply.finish()
  },
  'hear-cut': async (call) => {
    await stream(call, deltas.slice(0, 2))
    call.reply.connection.reset()
  },
  'hear-held': async (call) => {
    await stream(call, deltas.slice(0, 2))
    await call.hold()
  },
  /** https://docs.mistral.ai/api/endpoint/audio/transcriptions */
  'hear-mistral': async (call) => {
    const {
      response_format: format,
      'timestamp_granularities[]': times,
      model,
    } = call.received.body
    if (format !== undefined) {
      const detail = [{ loc: ['body', 'response_format'], msg: 'Extra inputs are not permitted' }]
      return call.reply.json(422, { detail })
    }
    const seconds = secondsOf(call)
    await answer(call, {
      model,
      text,
      language: 'en',
      segments:
        times === undefined
          ? []
          : halves(seconds).map((one) => ({ type: 'transcription_segment', ...one })),
      usage: {
        prompt_audio_seconds: Math.ceil(seconds),
        prompt_tokens: 4,
        completion_tokens: 8,
        total_tokens: 12,
      },
    })
  },
}

/** https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded */
export const deepgram: Record<string, Behaviour> = {
  ok: async (call) => {
    const { headers, body } = call.received
    if (!headers['authorization']?.startsWith('Token ')) {
      return call.reply.json(401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' })
    }
    const seconds = secondsOf(call)
    const isDiarized = body['diarize'] === 'true'
    const spoken = timedWords(seconds).map(({ word, ...time }, index) => ({
      word: word.toLowerCase().replace(/\W/, ''),
      punctuated_word: word,
      confidence: 0.99,
      ...time,
      ...(isDiarized && { speaker: index < 2 ? 0 : 1 }),
    }))
    const utterances = halves(seconds).map(({ text: transcript, ...time }, index) => ({
      ...time,
      transcript: transcript.trim(),
      confidence: 0.99,
      ...(isDiarized && { speaker: index }),
    }))
    await answer(call, {
      metadata: { request_id: 'dg-1', duration: seconds, channels: 1 },
      results: {
        channels: [
          {
            ...(body['detect_language'] === 'true' && { detected_language: 'en' }),
            alternatives: [{ transcript: text, confidence: 0.99, words: spoken }],
          },
        ],
        ...(body['utterances'] === 'true' && { utterances }),
      },
    })
  },
}

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenLabs: Record<string, Behaviour> = {
  ok: async (call) => {
    const seconds = secondsOf(call)
    const isDiarized = call.received.body['diarize'] === 'true'
    const spoken = timedWords(seconds).flatMap(({ word, start, end }, index) => [
      ...(index === 0 ? [] : [{ text: ' ', start, end: start, type: 'spacing' }]),
      {
        text: word,
        start,
        end,
        type: 'word',
        ...(isDiarized && { speaker_id: index < 2 ? 'speaker_0' : 'speaker_1' }),
      },
    ])
    await answer(call, {
      language_code: 'eng',
      language_probability: 0.98,
      text,
      words: spoken,
      audio_duration_secs: seconds,
    })
  },
}
