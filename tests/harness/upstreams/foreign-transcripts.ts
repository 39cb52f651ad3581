import { type Behaviour, type Call, isJson } from './call'
import { answer, halves, text, timedWords, words } from './transcripts'

const refuseTask = (call: Call, message: string) =>
  call.reply.json(400, { success: false, errors: [{ code: 5006, message }], messages: [] })

/** https://developers.cloudflare.com/workers-ai/models/whisper-large-v3-turbo/ */
const asWorkersAi: Behaviour = async (call) => {
  const { audio, task = 'transcribe' } = call.received.body
  if (typeof audio !== 'string') return refuseTask(call, 'AiError: Bad input: audio is required')
  if (task !== 'translate' && task !== 'transcribe')
    return refuseTask(call, 'AiError: Bad input: task')
  const sound = Buffer.from(audio, 'base64')
  const seconds = (sound.length - 44) / sound.readUInt32LE(28)
  await answer(call, {
    result: {
      transcription_info: { language: 'en', language_probability: 0.98, duration: seconds },
      text,
      word_count: words.length,
      segments: halves(seconds).map((half, index) => ({
        ...half,
        words: timedWords(seconds).slice(index * 2, index * 2 + 2),
      })),
      vtt: 'WEBVTT',
    },
    success: true,
    errors: [],
    messages: [],
  })
}

const inMilliseconds = ({ start, end, ...item }: { start: number; end: number }) => ({
  ...item,
  offsetMilliseconds: start * 1000,
  durationMilliseconds: (end - start) * 1000,
})

/** https://learn.microsoft.com/en-us/azure/ai-services/speech-service/llm-speech */
const asLlmSpeech: Behaviour = async (call) => {
  const { audio, definition } = call.received.body
  const { enhancedMode } = JSON.parse(typeof definition === 'string' ? definition : '{}')
  if (!isJson(audio) || enhancedMode?.enabled !== true) {
    const error = { code: 'InvalidArgument', message: 'The definition or the audio is missing.' }
    return call.reply.json(400, error)
  }
  const seconds = Number(audio['seconds'])
  await answer(call, {
    durationMilliseconds: seconds * 1000,
    combinedPhrases: [{ text }],
    phrases: halves(seconds).map((half) => ({
      ...inMilliseconds(half),
      text: half.text.trim(),
      words: [],
      locale: 'en-US',
      confidence: 0,
    })),
  })
}

const whisperPath = '/v1/run/@cf/openai/whisper-large-v3-turbo'
const speechPath = '/v1/speechtotext/transcriptions:transcribe'

/** Transcripts of Workers AI and of Azure's LLM Speech, by their paths. */
export const foreignTranscripts: readonly (readonly [string, Record<string, Behaviour>])[] = [
  [whisperPath, { ok: asWorkersAi }],
  [speechPath, { ok: asLlmSpeech }],
]

/** The behaviour of a request for a transcript in such a format; undefined for other requests. */
export const transcriptModelOf = (path: string): string | undefined =>
  path === whisperPath || path === speechPath ? 'ok' : undefined
